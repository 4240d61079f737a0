import type { FastifyInstance, FastifyRequest } from "fastify";

/** What a script of an allowed origin may send, beside what a browser lets every script send. */
const requestHeaders = [
  "authorization",
  "content-digest",
  "content-type",
  "idempotency-key",
  "if-match",
  "if-none-match",
  "prefer",
  "signature",
  "signature-input",
  "x-request-id",
].join(", ");

/** What it may read of an answer. */
const responseHeaders = [
  "bursar-version",
  "deprecation",
  "etag",
  "idempotent-replayed",
  "link",
  "location",
  "ratelimit",
  "ratelimit-policy",
  "retry-after",
  "sunset",
  "www-authenticate",
  "x-request-id",
].join(", ");

const preflightSeconds = 600;

/**
 * Lets scripts of other origins in, where the operator has named them; without that nobody's. Cookies and the like are never
 * allowed, whoever asks: a token is sent by the script itself, so that no other page can borrow it.
 */
export function installCors(
  app: FastifyInstance,
  origins: string | undefined,
  methodsByPath: ReadonlyMap<string, ReadonlySet<string>>,
): void {
  if (origins === undefined) return;
  const allowed = new Set(origins.split(","));
  const isForAll = allowed.has("*");
  app.addHook("onRequest", (request, reply, done) => {
    if (!isForAll) reply.header("vary", "origin");
    const { origin } = request.headers;
    if (origin === undefined || !(isForAll || allowed.has(origin))) return done();
    reply
      .header("access-control-allow-origin", isForAll ? "*" : origin)
      .header("access-control-expose-headers", responseHeaders);
    const methods = methodsByPath.get(request.routeOptions.url ?? "");
    if (methods === undefined || !isPreflight(request)) return done();
    reply
      .code(204)
      .header("access-control-allow-methods", [...methods].sort().join(", "))
      .header("access-control-allow-headers", requestHeaders)
      .header("access-control-max-age", preflightSeconds)
      .send();
  });
}

function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === "OPTIONS" && headers["access-control-request-method"] !== undefined;
}
