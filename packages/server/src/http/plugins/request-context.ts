import type { IncomingMessage } from "node:http";
import { apiVersion, isRequestId, requestIdHeader, versionHeader } from "@bursar/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Refusal } from "../refusal.js";

/** The client's own request id where it can be taken as it is, else a new one. */
export function createRequestIdChooser(newRequestId: () => string) {
  return (request: IncomingMessage): string => {
    const given = request.headers[requestIdHeader];
    return isRequestId(given) ? given : newRequestId();
  };
}

/** The headers that every answer carries. */
export function setCommonHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply
    .header(requestIdHeader, request.id)
    .header(versionHeader, apiVersion)
    .header("x-content-type-options", "nosniff");
}

export function installRequestContext(app: FastifyInstance): void {
  app.addHook("onRequest", (request, reply, done) => {
    setCommonHeaders(request, reply);
    done(refuseOutdated(request));
  });
}

function refuseOutdated(request: FastifyRequest): Refusal | undefined {
  const { httpVersionMajor, httpVersionMinor } = request.raw;
  if (httpVersionMajor < 1)
    return new Refusal("MALFORMED_REQUEST", { message: "The request names no version of HTTP." });
  // Node would answer this one by itself, without a body; it is told not to, so that the answer has the contract's form.
  if (request.headers.host === undefined && httpVersionMinor >= 1) {
    return new Refusal("MALFORMED_REQUEST", { message: "The Host header is missing." });
  }
  return undefined;
}
