import type { IncomingMessage } from "node:http";
import { apiVersion, isRequestId, requestIdHeader, versionHeader } from "@bursar/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Refusal } from "../refusal.js";
import type { PendingAnswers } from "./pending-answers.js";

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
  // Balances and secrets that are shown once are nothing for a cache, whoever keeps it.
  if (request.url.startsWith("/v1/") || request.routeOptions.url?.startsWith("/v1/") === true)
    reply.header("cache-control", "no-store");
}

/**
 * How many requests may wait on one connection. Node reads all that come in one packet before the first is answered: a packet of
 * small requests for something large would be an answer of a gigabyte, kept for a client that does not read it.
 */
const waitingMax = 32;

export function installRequestContext(app: FastifyInstance, pending: PendingAnswers): void {
  app.addHook("onRequest", (request, reply, done) => {
    setCommonHeaders(request, reply);
    // A connection that was reset has no address any more, and nobody to answer. Asked for here, it is known from now on.
    if (request.raw.socket.remoteAddress === undefined)
      return done(new Refusal("MALFORMED_REQUEST", { message: "The client has disconnected." }));
    if (pending.count(request.raw.socket) > waitingMax) {
      const message = `More than ${waitingMax} requests wait on this connection.`;
      return done(new Refusal("MALFORMED_REQUEST", { message, headers: { connection: "close" } }));
    }
    const fault = findFault(request);
    done(fault === undefined ? undefined : new Refusal("MALFORMED_REQUEST", { message: fault }));
  });
}

/** A name or an address, and a port. */
const hostPattern = /^[\w.~!$&'()*+,;=:%[\]-]*$/;

/** What Node's parser lets pass, and HTTP or good sense does not. */
function findFault({ raw, headers }: FastifyRequest): string | undefined {
  if (raw.httpVersionMajor < 1) return "The request names no version of HTTP.";
  // Node would answer this one by itself, without a body; it is told not to, so that the answer has the contract's form.
  if (headers.host === undefined && raw.httpVersionMinor >= 1) return "The Host header is missing.";
  if (headers.host !== undefined && !hostPattern.test(headers.host)) return "The Host header is malformed.";
  if (headers["transfer-encoding"] !== undefined && raw.httpVersionMinor < 1)
    return "HTTP/1.0 has no Transfer-Encoding.";
  if (raw.url?.includes("%00")) return "The URL has a zero character, which no text of ours holds.";
  const repeated = findRepeated(raw.rawHeaders);
  return repeated === undefined ? undefined : `The header ${repeated} is repeated.`;
}

/** Node keeps the first of these; whoever stands before us may have looked at the last. */
const singleHeaders = ["host", "authorization", "content-type"];

function findRepeated(rawHeaders: readonly string[]): string | undefined {
  let seen = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    for (let bit = 0; bit < singleHeaders.length; bit++) {
      const single = singleHeaders[bit] as string;
      // The length first: it settles nearly all of them, and every request comes through here.
      if (name.length !== single.length || name.toLowerCase() !== single) continue;
      if ((seen & (1 << bit)) !== 0) return single;
      seen |= 1 << bit;
    }
  }
  return undefined;
}
