import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Span, Tracer } from "../../runtime/tracing/tracer.js";
import type { Outcomes } from "./outcomes.js";

declare module "fastify" {
  interface FastifyRequest {
    /** The span of the request; null if it is not recorded. */
    span: Span | null;
  }
}

/** A stream lasts for hours, and nothing waits for it. */
const streamPath = "/v1/stream";

/** Records requests of the API, not those of probes, documents and unknown paths. */
export function installTracing(app: FastifyInstance, tracer: Tracer | undefined, outcomes: Outcomes): void {
  app.decorateRequest("span", null);
  if (tracer === undefined) return;
  app.addHook("onRequest", (request, _reply, done) => {
    const route = request.routeOptions.url;
    const isApi = route?.startsWith("/v1/") === true || route?.startsWith("/oauth/") === true;
    if (isApi && route !== streamPath)
      request.span =
        tracer.startRequest(request.headers["traceparent"], `${request.method} ${route}`) ?? null;
    done();
  });
  outcomes.onOutcome((request, reply) => endSpan(request, reply));
}

/** Names of OpenTelemetry's semantic conventions. The path is not recorded: the route is, and ids are found by the request id. */
function endSpan({ span, method, routeOptions, errorCode, id }: FastifyRequest, reply: FastifyReply): void {
  if (span === null) return;
  const { statusCode } = reply;
  span.end(
    {
      "http.request.method": method,
      "http.route": routeOptions.url,
      "http.response.status_code": statusCode,
      "error.type": errorCode ?? undefined,
      "bursar.request.id": id,
    },
    // A request that the client got wrong is no error of the server.
    statusCode >= 500 ? (errorCode ?? `status ${statusCode}`) : undefined,
  );
}
