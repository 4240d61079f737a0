import type { Socket } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ClientTraffic } from "../../app/quotas/traffic.js";
import { Refusal } from "../refusal.js";

/** The limits on what one client has open in one process. */
export interface ConcurrencyLimits {
  requestsPerClient: number;
  /** Infinity behind a proxy, whose connections are shared by all clients. */
  connectionsPerClient: number;
}

/** The clients that use a connection, and the callbacks that release its unanswered requests. */
interface Counted {
  clients: Set<ClientTraffic>;
  unanswered: Set<() => void>;
}

/** This is a WeakMap because an additional property would change the hidden class of the sockets. */
const countedOn = new WeakMap<object, Counted>();

/** Counts the connection if this is the client's first request on it, or refuses it. */
export function enterConnection(
  traffic: ClientTraffic,
  request: FastifyRequest,
  { connectionsPerClient }: ConcurrencyLimits,
): Refusal | undefined {
  if (connectionsPerClient === Number.POSITIVE_INFINITY) return undefined;
  const { socket } = request.raw;
  // Authentication can take a while, and a closed socket emits no further event.
  if (socket.destroyed) return disconnected();
  const { clients } = countedOn.get(socket) ?? beginCounting(socket);
  if (clients.has(traffic)) return undefined;
  if (traffic.connections >= connectionsPerClient) return tooMany("connections", { connection: "close" });
  traffic.connections += 1;
  clients.add(traffic);
  return undefined;
}

/** One listener per connection: an unconfigured proxy can send the requests of thousands of clients on one. */
function beginCounting(socket: Socket): Counted {
  const counted: Counted = { clients: new Set(), unanswered: new Set() };
  countedOn.set(socket, counted);
  socket.once("close", () => {
    for (const traffic of counted.clients) traffic.connections -= 1;
    for (const release of counted.unanswered) release();
  });
  return counted;
}

/** Counts the request, or refuses it. */
export function enterRequest(
  traffic: ClientTraffic,
  request: FastifyRequest,
  reply: FastifyReply,
  { requestsPerClient }: ConcurrencyLimits,
): Refusal | undefined {
  if (request.raw.socket.destroyed) return disconnected();
  if (traffic.requestsInFlight >= requestsPerClient) return tooMany("requests in progress");
  traffic.requestsInFlight += 1;
  whenAnswered(request, reply, () => {
    traffic.requestsInFlight -= 1;
  });
  return undefined;
}

/** Calls back once, when the request is answered or its client has disconnected. */
export function whenAnswered(
  { raw: { socket } }: FastifyRequest,
  reply: FastifyReply,
  callBack: () => void,
): void {
  const { unanswered } = countedOn.get(socket) ?? beginCounting(socket);
  const release = () => {
    if (unanswered.delete(release)) callBack();
  };
  unanswered.add(release);
  // Not the onResponse hook, which does not run if the client disconnected before. A response that is queued behind another one on the
  // same connection emits no event at all then, so the close of the connection releases it too.
  reply.raw.once("close", release);
}

export function disconnected(): Refusal {
  return new Refusal("MALFORMED_REQUEST", { message: "The client has disconnected." });
}

function tooMany(what: string, headers: Record<string, string> = {}): Refusal {
  return new Refusal("CONCURRENCY_LIMITED", {
    message: `This client has too many ${what}.`,
    headers: { "retry-after": "1", ...headers },
  });
}
