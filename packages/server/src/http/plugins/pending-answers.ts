import type { Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

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
