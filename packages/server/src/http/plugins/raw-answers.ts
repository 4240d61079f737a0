import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
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
import type { PendingAnswers } from "./pending-answers.js";

export interface RawAnswersOptions {
  log: FastifyBaseLogger;
  newRequestId: () => string;
}

/** Node's parser and timers, by their codes; everything else that the parser dislikes is a malformed request. */
const parserErrors: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: "HEADERS_TOO_LARGE",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "PAYLOAD_TOO_LARGE",
  ERR_HTTP_REQUEST_TIMEOUT: "REQUEST_TIMEOUT",
};

/** Answers what never becomes a request: bytes that are not HTTP, headers without end, a client that stops half-way. */
export function createClientErrorHandler(options: RawAnswersOptions, pending: PendingAnswers) {
  const ended = new WeakSet<Duplex>();
  return (error: NodeJS.ErrnoException, socket: Duplex): void => {
    // A connection that was reset has nobody left to answer.
    if (error.code === "ECONNRESET" || !socket.writable) {
      socket.destroy();
      return;
    }
    // The parser fails again at every further byte.
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

function answerError(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  { log, newRequestId }: RawAnswersOptions,
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
  answerAndClose(socket, rawAnswer(code, requestId));
}

/** How long a peer that does not read may keep us from closing. */
const lingerMs = 1000;

/**
 * Answers and lets go. These sockets have left Node's care: nobody else listens for their errors, which would end the process,
 * and no timeout closes them if the peer does not.
 */
function answerAndClose(socket: Duplex, answer: string): void {
  socket.on("error", () => undefined);
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer));
  socket.end(answer, () => socket.destroy());
}

/** Requests that Node hands to events of their own instead of to the router. */
export function answerUnusualRequests(server: Server, { log, newRequestId }: RawAnswersOptions): void {
  server.on("connect", (_request, socket) => {
    const requestId = newRequestId();
    log.info({ request_id: requestId }, "refused a CONNECT request");
    answerAndClose(socket, rawAnswer("MALFORMED_REQUEST", requestId));
  });
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    continueWhenRead(request, response);
    server.emit("request", request, response);
  });
  // `Expect` with anything but 100-continue; the request is served as if it had not asked.
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    server.emit("request", request, response);
  });
}

/**
 * Asks for the body when somebody begins to read it, and not before: a request that is refused by its headers, for its size or
 * its token, is answered at once, and the client need not send what nobody wants (RFC 9110, section 10.1.1).
 */
function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  const { shouldKeepAlive } = response;
  // Where the body was not asked for, nobody knows whether it comes all the same; what follows cannot be told from it.
  response.shouldKeepAlive = false;
  request.once("resume", () => {
    // What is left of a request is thrown away after its answer, which reads it too.
    if (response.headersSent) return;
    response.shouldKeepAlive = shouldKeepAlive;
    response.writeContinue();
  });
}

function rawAnswer(code: ErrorCode, requestId: string): string {
  const { status, message } = errorCatalog[code];
  const body = JSON.stringify(errorBody(code, message, requestId));
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
