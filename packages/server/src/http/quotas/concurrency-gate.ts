import type { Socket } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ClientTraffic } from "../../app/quotas/quota-keeper.js";
import { Refusal } from "../refusal.js";

/** How much one client may have open at once, in one process. */
export interface ConcurrencyLimits {
  requestsPerClient: number;
  /** Infinity behind a proxy, whose connections belong to nobody in particular. */
  connectionsPerClient: number;
}

/** What a connection counts for: the clients that use it, and what is to be done about requests on it that are not answered. */
interface Counted {
  clients: Set<ClientTraffic>;
  unanswered: Set<() => void>;
}

/** Beside the sockets, not on them: a property that Node does not know would give them a shape of their own. */
const countedOn = new WeakMap<object, Counted>();

/** Counts the connection where this is the client's first request on it; or says that there are too many. */
export function enterConnection(
  traffic: ClientTraffic,
  request: FastifyRequest,
  { connectionsPerClient }: ConcurrencyLimits,
): Refusal | undefined {
  if (connectionsPerClient === Number.POSITIVE_INFINITY) return undefined;
  const { socket } = request.raw;
  // Finding out whom a request comes from can take a while, and nothing more is heard of a connection that is gone.
  if (socket.destroyed) return hasGone();
  const { clients } = countedOn.get(socket) ?? beginCounting(socket);
  if (clients.has(traffic)) return undefined;
  if (traffic.connections >= connectionsPerClient) return tooMany("connections", { connection: "close" });
  traffic.connections += 1;
  clients.add(traffic);
  return undefined;
}

/** One listener for all clients of a connection: a proxy that nobody has told us of may send those of thousands on one. */
function beginCounting(socket: Socket): Counted {
  const counted: Counted = { clients: new Set(), unanswered: new Set() };
  countedOn.set(socket, counted);
  socket.once("close", () => {
    for (const traffic of counted.clients) traffic.connections -= 1;
    for (const forget of counted.unanswered) forget();
  });
  return counted;
}

/** Counts the request; or says that there are too many. */
export function enterRequest(
  traffic: ClientTraffic,
  { raw: { socket } }: FastifyRequest,
  reply: FastifyReply,
  { requestsPerClient }: ConcurrencyLimits,
): Refusal | undefined {
  if (socket.destroyed) return hasGone();
  if (traffic.requestsInFlight >= requestsPerClient) return tooMany("requests in progress");
  const { unanswered } = countedOn.get(socket) ?? beginCounting(socket);
  traffic.requestsInFlight += 1;
  const forget = () => {
    if (unanswered.delete(forget)) traffic.requestsInFlight -= 1;
  };
  unanswered.add(forget);
  // Not the hook at the end of an answer, which does not run where the client went away before. Of an answer that waits behind another
  // on the same connection nothing is heard at all then, so the connection counts too.
  reply.raw.once("close", forget);
  return undefined;
}

function hasGone(): Refusal {
  return new Refusal("MALFORMED_REQUEST", { message: "The client has gone away." });
}

function tooMany(what: string, headers: Record<string, string> = {}): Refusal {
  return new Refusal("CONCURRENCY_LIMITED", {
    message: `This client has too many ${what}.`,
    headers: { "retry-after": "1", ...headers },
  });
}
