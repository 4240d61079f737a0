import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

export function installAccessLog(app: FastifyInstance): void {
  app.addHook("onResponse", (request, reply, done) => {
    logAccess(request, reply);
    done();
  });
}

/**
 * One line for each request, after its response. The query, and the authority of an absolute target, are omitted: they can contain
 * secrets.
 */
export function logAccess(request: FastifyRequest, reply: FastifyReply): void {
  if (!isLogged(request.log)) return;
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

/** Building the line costs more than asking whether it is logged. */
function isLogged(log: FastifyBaseLogger & { isLevelEnabled?: (level: string) => boolean }): boolean {
  return log.isLevelEnabled?.("info") ?? true;
}
