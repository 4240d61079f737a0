import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import {
  apiVersion,
  type ErrorCode,
  errorBody,
  errorCatalog,
  requestIdHeader,
  versionHeader,
} from "@bursar/protocol";
import type { FastifyBaseLogger } from "fastify";

export interface RawAnswersOptions {
  log: FastifyBaseLogger;
  newRequestId: () => string;
  publicUrl: string;
}

/** The errors of Node's parser and timers, by code; any other is a malformed request. */
const parserErrors: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: "HEADERS_TOO_LARGE",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "PAYLOAD_TOO_LARGE",
  ERR_HTTP_REQUEST_TIMEOUT: "REQUEST_TIMEOUT",
};

/** Answers what never becomes a request: invalid HTTP, oversized headers, a client that stops midway. */
export function createClientErrorHandler(options: RawAnswersOptions, pending: PendingAnswers) {
  const ended = new WeakSet<Duplex>();
  return (error: NodeJS.ErrnoException, socket: Duplex): void => {
    // A connection that was reset cannot be answered, and one that has sent nothing must not be: a client that keeps connections open
    // would take the answer for that to its next request.
    if (error.code === "ECONNRESET" || !socket.writable || isSilent(socket)) {
      socket.destroy();
      return;
    }
    // The parser fails again at every further chunk.
    if (ended.has(socket)) return;
    ended.add(socket);
    const earlier = pending.before(socket);
    if (earlier === undefined) {
      answerError(error, socket, options, pending);
    } else {
      socket.pause();
      earlier.once("close", () => answerError(error, socket, options, pending));
    }
  };
}

/** Whether the peer has sent no byte. After a request, Node closes an idle connection by itself, without an error. */
function isSilent(socket: Duplex): boolean {
  return socket instanceof Socket && socket.bytesRead === 0;
}

function answerError(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  { log, newRequestId, publicUrl }: RawAnswersOptions,
  pending: PendingAnswers,
): void {
  const isLast = !socket.writable || pending.begun(socket) !== undefined;
  if (isLast) {
    socket.destroy();
    return;
  }
  const code = parserErrors[error.code ?? ""] ?? "MALFORMED_REQUEST";
  const requestId = newRequestId();
  log.info(
    { request_id: requestId, error_code: error.code, status: errorCatalog[code].status },
    "malformed request",
  );
  answerAndClose(socket, rawAnswer(code, requestId, publicUrl));
}

/** How long a peer that does not read can delay the close. */
const lingerMs = 1000;

/**
 * Answers and closes. Node no longer manages these sockets: without a listener an error would end the process, and no timeout closes
 * them if the peer does not.
 */
function answerAndClose(socket: Duplex, answer: string): void {
  socket.on("error", () => undefined);
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer));
  socket.end(answer, () => socket.destroy());
}

/** Requests that Node emits as separate events instead of passing them to the router. */
export function answerUnusualRequests(
  server: Server,
  { log, newRequestId, publicUrl }: RawAnswersOptions,
): void {
  server.on("connect", (_request, socket) => {
    const requestId = newRequestId();
    log.info({ request_id: requestId }, "refused a CONNECT request");
    answerAndClose(socket, rawAnswer("MALFORMED_REQUEST", requestId, publicUrl));
  });
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    continueWhenRead(request, response);
    server.emit("request", request, response);
  });
  // `Expect` with anything but 100-continue is ignored.
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    server.emit("request", request, response);
  });
}

/**
 * Asks for the body only when it is read: a request that is refused by its headers, for its size or its token, is answered at once,
 * and the client need not send the body (RFC 9110, section 10.1.1).
 */
function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  const { shouldKeepAlive } = response;
  // If the body was not asked for, it may arrive anyway, and could not be distinguished from the next request.
  response.shouldKeepAlive = false;
  request.once("resume", () => {
    // The rest of a request is discarded after its response, which also resumes it.
    if (response.headersSent) return;
    response.shouldKeepAlive = shouldKeepAlive;
    response.writeContinue();
  });
}

function rawAnswer(code: ErrorCode, requestId: string, publicUrl: string): string {
  const { status, message } = errorCatalog[code];
  const body = JSON.stringify(errorBody({ code, message, requestId, publicUrl }));
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "content-type: application/json; charset=utf-8",
    `content-length: ${Buffer.byteLength(body)}`,
    `${requestIdHeader}: ${requestId}`,
    `${versionHeader}: ${apiVersion}`,
    "x-content-type-options: nosniff",
    "connection: close",
    "",
    body,
  ].join("\r\n");
}

/**
 * Tracks the responses that a connection still awaits. Requests can be pipelined: if invalid bytes follow a valid request, the response
 * to them must not overtake the response to that request, or the client would mistake one for the other.
 */
export interface PendingAnswers {
  /** Starts tracking a server's requests. */
  follow: (server: Server) => void;
  /** The response that must be sent before an error of this connection; undefined if there is none. */
  before: (socket: Duplex) => ServerResponse | undefined;
  /** The number of requests of this connection without a response. */
  count: (socket: Duplex) => number;
  /** The response to the request that was still being received when the error happened, if it has begun. */
  begun: (socket: Duplex) => ServerResponse | undefined;
}

export function createPendingAnswers(): PendingAnswers {
  const bySocket = new WeakMap<Duplex, ServerResponse[]>();
  const lastOf = (socket: Duplex) => (bySocket.get(socket) ?? []).slice(-2).reverse();
  return {
    follow: (server) => {
      server.prependListener("request", (request, response) => {
        const pending = bySocket.get(request.socket) ?? [];
        if (pending.push(response) === 1) bySocket.set(request.socket, pending);
        // Responses close in the order of their requests: this one is the first, and nearly always the only one.
        response.on("close", () => {
          const index = pending.indexOf(response);
          if (index >= 0) pending.splice(index, 1);
        });
      });
    },
    before: (socket) => lastOf(socket).find((response) => response.req.complete),
    count: (socket) => bySocket.get(socket)?.length ?? 0,
    begun: (socket) => lastOf(socket).find((response) => !response.req.complete && response.headersSent),
  };
}
