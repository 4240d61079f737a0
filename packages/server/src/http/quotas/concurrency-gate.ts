import type { Socket } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ClientTraffic } from "../../app/quotas/client-traffic.js";
import { Refusal } from "../refusal.js";

/** How much one client may have open at once, in one process. */
export interface ConcurrencyLimits {
  requestsPerClient: number;
  /** Infinity behind a proxy, whose connections belong to nobody in particular. */
  connectionsPerClient: number;
}

/**
 * The clients that each connection counts for. Beside the sockets, not on them: a property that Node does not know would give them a
 * shape of their own.
 */
const clientsOf = new WeakMap<object, Set<ClientTraffic>>();

/** Counts the connection where this is the client's first request on it; or says that there are too many. */
export function enterConnection(
  traffic: ClientTraffic,
  request: FastifyRequest,
  { connectionsPerClient }: ConcurrencyLimits,
): Refusal | undefined {
  if (connectionsPerClient === Number.POSITIVE_INFINITY) return undefined;
  const clients = clientsOf.get(request.raw.socket) ?? beginCounting(request.raw.socket);
  if (clients.has(traffic)) return undefined;
  if (traffic.connections >= connectionsPerClient) return tooMany("connections", { connection: "close" });
  traffic.connections += 1;
  clients.add(traffic);
  return undefined;
}

/** One listener for all clients of a connection: a proxy that nobody has told us of may send those of thousands on one. */
function beginCounting(socket: Socket): Set<ClientTraffic> {
  const clients = new Set<ClientTraffic>();
  clientsOf.set(socket, clients);
  socket.once("close", () => {
    for (const traffic of clients) traffic.connections -= 1;
  });
  return clients;
}

/** Counts the request; or says that there are too many. */
export function enterRequest(
  traffic: ClientTraffic,
  reply: FastifyReply,
  { requestsPerClient }: ConcurrencyLimits,
): Refusal | undefined {
  if (traffic.requestsInFlight >= requestsPerClient) return tooMany("requests in progress");
  traffic.requestsInFlight += 1;
  // Not the hook at the end of an answer, which does not run where the client went away before.
  reply.raw.on("close", () => {
    traffic.requestsInFlight -= 1;
  });
  return undefined;
}

function tooMany(what: string, headers: Record<string, string> = {}): Refusal {
  return new Refusal("CONCURRENCY_LIMITED", {
    message: `This client has too many ${what}.`,
    headers: { "retry-after": "1", ...headers },
  });
}
