import type { Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/**
 * Knows which answers a connection still waits for. Requests can be sent one behind the other; when the bytes behind a good one
 * are garbage, the answer to the garbage must not overtake the answer to the good one, or the client takes the one for the other.
 */
export interface PendingAnswers {
  /** Begins to follow a server's requests. */
  follow: (server: Server) => void;
  /** The answer that must be out before an error of this connection may be told; undefined where there is none. */
  before: (socket: Duplex) => ServerResponse | undefined;
  /** How many requests of this connection have no answer yet. */
  count: (socket: Duplex) => number;
  /** The answer to the request that was still arriving when the error happened, where one has begun. */
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
        // Answers close in the order of their requests: what is looked for is the first, and nearly always the only one.
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
