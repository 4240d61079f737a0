import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

export function installAccessLog(app: FastifyInstance): void {
  app.addHook("onResponse", (request, reply, done) => {
    logAccess(request, reply);
    done();
  });
}

/**
 * One line a request, when it has been answered. The query is left out, and of an absolute target the authority: they can hold
 * what no log should.
 */
export function logAccess(request: FastifyRequest, reply: FastifyReply): void {
  if (!isWanted(request.log)) return;
  const path = request.url.replace(/^[^/?]+:\/\/[^/?]*/, "").split("?", 1)[0];
  const durationMs = Math.round(reply.elapsedTime * 10) / 10;
  request.log.info(
    {
      request_id: request.id,
      method: request.method,
      path,
      status: reply.statusCode,
      duration_ms: durationMs,
    },
    "request",
  );
}

/** Making the line costs more than asking whether anybody wants it. */
function isWanted(log: FastifyBaseLogger & { isLevelEnabled?: (level: string) => boolean }): boolean {
  return log.isLevelEnabled?.("info") ?? true;
}
