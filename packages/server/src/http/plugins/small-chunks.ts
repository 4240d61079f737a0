import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { AddressQuota } from "../../app/quotas/address-quota.js";

/**
 * Each chunk of a body costs 2 to 4 µs, whatever its size: a body of 60 KB in chunks of one byte took 230 ms, and anybody can send it. Programs
 * that write a body piece by piece send a few hundred bytes at a time.
 */
const chunksFree = 256;
const bytesPerChunk = 256;
/** How long a client has to read an answer that it got before it had sent its whole body. */
const lingerMs = 500;

/**
 * Bounds what a body costs that comes in chunks: too many small ones end the connection and are charged to its address, and the rest of a
 * body is not read after the request was answered. A read of 64 KiB is parsed whole whatever is found at its beginning, so each such
 * connection still costs 20 to 40 ms: a proxy that buffers bodies belongs in front of a service that strangers reach.
 */
export function boundSmallChunks(server: Server, addresses: Pick<AddressQuota, "take">): void {
  function end(socket: Socket): void {
    socket.pause();
    addresses.take(socket.remoteAddress ?? "");
    const error = Object.assign(new Error("the body has too many small chunks"), { code: "SMALL_CHUNKS" });
    server.emit("clientError", error, socket);
  }

  server.prependListener("request", (request, response) => {
    if (request.headers["transfer-encoding"] === undefined) return;
    countChunks(request, end);
    response.once("finish", () => leaveTheRest(request, response));
  });
}

function countChunks(request: IncomingMessage, end: (socket: Socket) => void): void {
  const push = request.push.bind(request);
  let [chunks, bytes, isOver] = [0, 0, false];
  request.push = (chunk: Buffer | null, encoding) => {
    if (isOver) return false;
    if (chunk === null) return push(chunk, encoding);
    chunks += 1;
    bytes += chunk.length;
    if (chunks <= chunksFree + bytes / bytesPerChunk) return push(chunk, encoding);
    isOver = true;
    end(request.socket);
    return false;
  };
}

/** Otherwise Node reads and drops it, without a bound of its own. */
function leaveTheRest(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete || request.socket.destroyed) return;
  const { socket } = response.req;
  // Node goes on with a request that was not read, and that resumes the connection.
  socket.on("resume", () => socket.pause());
  socket.pause();
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer));
}
