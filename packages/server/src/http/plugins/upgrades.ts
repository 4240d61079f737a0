import { type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { FastifyInstance } from "fastify";

declare module "fastify" {
  interface FastifyRequest {
    /** There where the request asks for a WebSocket, on a path that has one. */
    readonly upgrade: Upgrade | undefined;
  }
}

interface Upgrade {
  /** Takes the connection over; whoever does has to look after its errors. */
  takeSocket: () => { socket: Duplex; head: Buffer };
}

/** How long a peer that does not read its refusal may keep us from closing. */
const lingerMs = 1000;

/**
 * Sends requests for a WebSocket through the router like all others, so that token, scope, request id, audit and errors are the
 * same for them: what is refused is refused before the upgrade, as an ordinary answer.
 */
export function installUpgrades(app: FastifyInstance, path: string): void {
  const upgrades = new WeakMap<IncomingMessage, Upgrade>();
  app.decorateRequest("upgrade", {
    getter() {
      return upgrades.get(this.raw);
    },
  });
  app.server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    if (!asksForWebSocket(request, path)) {
      serveWithoutUpgrade(app.server, request, socket, head);
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
  });
}

function asksForWebSocket({ method, url = "", headers }: IncomingMessage, path: string): boolean {
  return method === "GET" && headers.upgrade?.toLowerCase() === "websocket" && url.split("?", 1)[0] === path;
}

/**
 * Lets an answer go out on a socket that has left Node's care: nobody else listens for its errors, which would end the process,
 * and nobody else closes it. Gives back how to let go of it instead.
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
    // Not before the next turn: whoever takes the socket over adds a listener of its own now.
    setImmediate(() => socket.off("error", ignore));
  };
}

/**
 * A request that asks for another protocol, or on another path, is served as if it had not asked (RFC 9110, section 7.8); curl does
 * so with every `--http2`. Node has stopped reading it as HTTP, so it is put back in front of what follows, without the header.
 */
function serveWithoutUpgrade(server: Server, request: IncomingMessage, socket: Socket, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() !== "upgrade")
      lines.push(`${rawHeaders[index]}: ${rawHeaders[index + 1]}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit("connection", socket);
}
