import { type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { FastifyInstance } from "fastify";
import type { PendingAnswers } from "./raw-answers.js";

declare module "fastify" {
  interface FastifyRequest {
    /** Set if the request asks for a WebSocket, on a path that has one. */
    readonly upgrade: Upgrade | undefined;
  }
}

interface Upgrade {
  /** Takes over the connection; the caller must handle its errors. */
  takeSocket: () => { socket: Duplex; head: Buffer };
}

/** How long a peer that does not read its refusal can delay the close. */
const lingerMs = 1000;
/**
 * A connection ends after as many requests whose upgrade was ignored. Each of them is parsed twice, and one packet can have hundreds; a client
 * that sends the header with each request connects again.
 */
const ignoredMax = 32;

/**
 * Routes requests for a WebSocket like all others, so that token, scope, request id, audit and errors work the same: a refusal is an
 * ordinary response before the upgrade.
 */
export function installUpgrades(
  app: FastifyInstance,
  path: string,
  pending: Pick<PendingAnswers, "before">,
): void {
  const upgrades = new WeakMap<IncomingMessage, Upgrade>();
  const ignoredCounts = new WeakMap<Socket, number>();
  app.decorateRequest("upgrade", {
    getter() {
      return upgrades.get(this.raw);
    },
  });
  function upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    if (!asksForWebSocket(request, path)) {
      const ignored = (ignoredCounts.get(socket) ?? 0) + 1;
      ignoredCounts.set(socket, ignored);
      serveWithoutUpgrade(app.server, request, socket, head, ignored >= ignoredMax);
      return;
    }
    const response = new ServerResponse(request);
    const release = answerOn(socket, response);
    upgrades.set(request, {
      takeSocket: () => {
        release();
        return { socket, head };
      },
    });
    app.routing(request, response);
  }

  app.server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    // Requests can be pipelined. Responses to earlier ones belong to a parser that Node has detached from the socket: a response that is
    // queued behind them in a new one would never be sent.
    const earlier = pending.before(socket);
    if (earlier === undefined) return upgrade(request, socket, head);
    const ignore = () => undefined;
    socket.on("error", ignore);
    // Node no longer looks after it: a peer that does not read the response before would keep the connection without end.
    const end = () => socket.destroy();
    socket.once("timeout", end);
    earlier.once("close", () => {
      socket.off("timeout", end);
      setImmediate(() => socket.off("error", ignore));
      if (socket.writable && !socket.destroyed) upgrade(request, socket, head);
      else socket.destroy();
    });
  });
}

function asksForWebSocket({ method, url = "", headers }: IncomingMessage, path: string): boolean {
  return method === "GET" && headers.upgrade?.toLowerCase() === "websocket" && url.split("?", 1)[0] === path;
}

/**
 * Sends a response on a socket that Node no longer manages: without a listener an error would end the process, and nothing else closes
 * it. Returns a function that releases the socket instead.
 */
function answerOn(socket: Socket, response: ServerResponse): () => void {
  const ignore = () => undefined;
  socket.on("error", ignore);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once("finish", () => {
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once("close", () => clearTimeout(timer));
    socket.end(() => socket.destroy());
  });
  return () => {
    response.detachSocket(socket);
    // Deferred: the new owner of the socket adds its own listener now.
    setImmediate(() => socket.off("error", ignore));
  };
}

/**
 * A request that asks for another protocol, or on another path, is served without the upgrade (RFC 9110, section 7.8); curl sends
 * such requests with `--http2`. Node has stopped parsing HTTP, so the request is put back into the stream, without the header. It is parsed
 * in a later turn of the event loop: the next upgrade can be in the same packet, and other connections would wait for all of them.
 */
function serveWithoutUpgrade(
  server: Server,
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
  isLast: boolean,
): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase();
    if (name !== "upgrade" && !(isLast && name === "connection"))
      lines.push(`${rawHeaders[index]}: ${rawHeaders[index + 1]}`);
  }
  if (isLast) lines.push("Connection: close");
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  const ignore = () => undefined;
  socket.on("error", ignore);
  setImmediate(() => {
    if (socket.destroyed) return;
    server.emit("connection", socket);
    socket.off("error", ignore);
  });
}
