import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { apiVersion, isRequestId, requestIdHeader, versionHeader } from "@bursar/protocol";
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Refusal } from "../refusal.js";
import type { Outcomes } from "./outcomes.js";
import type { PendingAnswers } from "./raw-answers.js";

/** The client's own request id if it is well-formed, otherwise a new one. */
export function createRequestIdChooser(newRequestId: () => string) {
  return (request: IncomingMessage): string => {
    const given = request.headers[requestIdHeader];
    return isRequestId(given) ? given : newRequestId();
  };
}

/** The headers of every response. */
export function setCommonHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply
    .header(requestIdHeader, request.id)
    .header(versionHeader, apiVersion)
    .header("x-content-type-options", "nosniff");
  // Balances, secrets and the tokens of sessions must not be cached.
  if (isUncacheable(request.url) || isUncacheable(request.routeOptions.url))
    reply.header("cache-control", "no-store");
}

function isUncacheable(url: string | undefined): boolean {
  return url !== undefined && (url.startsWith("/v1/") || url.startsWith("/console/session"));
}

/**
 * The maximum number of pipelined requests on a connection. Node parses all requests of a packet before the first is answered: small
 * requests for something large could buffer a gigabyte of responses for a client that does not read them.
 */
const waitingMax = 32;

/** Decides whether a connection is still served. */
export interface Pipeline {
  /** `ignored`: the connection is closing, and nothing that follows is answered. `full`: it closes with the refusal of this request. */
  admit: (socket: Socket) => "admitted" | "ignored" | "full";
  /** Nothing that follows is served. */
  close: (socket: Socket) => void;
}

/**
 * What follows a refusal that closes the connection is not served: a request may not have ended where Node's parser thinks, or there were too
 * many, and to refuse each of the thousand others in a packet would keep other connections waiting.
 */
export function createPipeline(pending: Pick<PendingAnswers, "count">): Pipeline {
  const closing = new WeakSet<Socket>();
  return {
    admit: (socket) => {
      if (closing.has(socket)) return "ignored";
      if (pending.count(socket) <= waitingMax) return "admitted";
      closing.add(socket);
      return "full";
    },
    close: (socket) => void closing.add(socket),
  };
}

export function installRequestContext(app: FastifyInstance, pipeline: Pipeline, outcomes: Outcomes): void {
  app.addHook("onRequest", (request, reply, done) => {
    const admitted = pipeline.admit(request.raw.socket);
    if (admitted === "ignored") {
      reply.hijack();
      return;
    }
    setCommonHeaders(request, reply);
    outcomes.follow(request, reply);
    // A connection that was reset has no address any more. Read here, the address is cached for the rest of the request.
    if (request.raw.socket.remoteAddress === undefined)
      return done(new Refusal("MALFORMED_REQUEST", { message: "The client has disconnected." }));
    if (admitted === "full") {
      const message = `More than ${waitingMax} requests are pending on this connection.`;
      return done(new Refusal("MALFORMED_REQUEST", { message, headers: { connection: "close" } }));
    }
    if (hasOtherCoding(request)) {
      pipeline.close(request.raw.socket);
      const message = "Transfer-Encoding must be chunked.";
      return done(new Refusal("MALFORMED_REQUEST", { message, headers: { connection: "close" } }));
    }
    const fault = findFault(request);
    done(fault === undefined ? undefined : new Refusal("MALFORMED_REQUEST", { message: fault }));
  });
}

/** A name or an address, and a port. */
const hostPattern = /^[\w.~!$&'()*+,;=:%[\]-]*$/;

/** What Node's parser accepts although HTTP forbids it, or it is ambiguous. */
function findFault({ raw, headers }: FastifyRequest): string | undefined {
  if (raw.httpVersionMajor < 1) return "The request has no HTTP version.";
  // Node would answer this one itself, without the contract's error body; that is switched off.
  if (headers.host === undefined && raw.httpVersionMinor >= 1) return "The Host header is missing.";
  if (headers.host !== undefined && !hostPattern.test(headers.host)) return "The Host header is malformed.";
  if (headers["transfer-encoding"] !== undefined && raw.httpVersionMinor < 1)
    return "HTTP/1.0 does not support Transfer-Encoding.";
  if (raw.url?.includes("%00")) return "The URL contains a NUL character.";
  const repeated = findRepeated(raw.rawHeaders);
  return repeated === undefined ? undefined : `The header ${repeated} is repeated.`;
}

/** Parsers disagree about codings other than chunked, and about which of several ends the body. */
function hasOtherCoding({ headers }: FastifyRequest): boolean {
  const coding = headers["transfer-encoding"];
  return coding !== undefined && coding.toLowerCase() !== "chunked";
}

/** Node keeps the first of these; a proxy in front may have used the last. */
const singleHeaders = ["host", "authorization", "content-type"];

function findRepeated(rawHeaders: readonly string[]): string | undefined {
  let seen = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    for (let bit = 0; bit < singleHeaders.length; bit++) {
      const single = singleHeaders[bit] as string;
      // The length is compared first: it excludes nearly all headers, on every request.
      if (name.length !== single.length || name.toLowerCase() !== single) continue;
      if ((seen & (1 << bit)) !== 0) return single;
      seen |= 1 << bit;
    }
  }
  return undefined;
}

/** Asked every few seconds by machines. If they succeed, they are no news. */
const probes: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"]);

/**
 * One line for each request, after its response. The query, and the authority of an absolute target, are omitted: they can contain
 * secrets.
 */
export function logAccess(request: FastifyRequest, reply: FastifyReply): void {
  const isProbe = probes.has(request.routeOptions.url ?? "") && reply.statusCode < 400;
  const level = isProbe ? "debug" : "info";
  if (!isLogged(request.log, level)) return;
  const path = request.url.replace(/^[^/?]+:\/\/[^/?]*/, "").split("?", 1)[0];
  const durationMs = Math.round(reply.elapsedTime * 10) / 10;
  request.log[level](
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
function isLogged(
  log: FastifyBaseLogger & { isLevelEnabled?: (level: string) => boolean },
  level: string,
): boolean {
  return log.isLevelEnabled?.(level) ?? true;
}

/**
 * Closes connections with the last responses of a stopping service. Otherwise a client that keeps its connection open would delay the
 * stop until the keep-alive ends.
 */
export function installClosing(app: FastifyInstance): void {
  let closing = false;
  app.addHook("preClose", (done) => {
    closing = true;
    done();
  });
  app.addHook("onSend", (_request, reply, payload, done) => {
    if (closing) reply.header("connection", "close");
    done(null, payload);
  });
}
