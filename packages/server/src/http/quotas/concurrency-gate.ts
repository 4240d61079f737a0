import type { ServerResponse } from "node:http";
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

const owner = Symbol("the client that a connection or an answer belongs to");

/** Counts the connection where this is its first request; or says that there are too many. */
export function enterConnection(
  traffic: ClientTraffic,
  request: FastifyRequest,
  { connectionsPerClient }: ConcurrencyLimits,
): Refusal | undefined {
  const socket = request.raw.socket as Socket & { [owner]?: ClientTraffic };
  if (socket[owner] === undefined) {
    if (traffic.connections >= connectionsPerClient) return tooMany("connections", { connection: "close" });
    traffic.connections += 1;
    socket[owner] = traffic;
    socket.once("close", leaveConnection);
  }
  return undefined;
}

/** Counts the request; or says that there are too many. */
export function enterRequest(
  traffic: ClientTraffic,
  reply: FastifyReply,
  { requestsPerClient }: ConcurrencyLimits,
): Refusal | undefined {
  if (traffic.requestsInFlight >= requestsPerClient) return tooMany("requests in progress");
  traffic.requestsInFlight += 1;
  const answer = reply.raw as ServerResponse & { [owner]?: ClientTraffic };
  answer[owner] = traffic;
  // Not the hook at the end of an answer, which does not run where the client went away before.
  answer.on("close", leaveRequest);
  return undefined;
}

function leaveConnection(this: Socket & { [owner]?: ClientTraffic }): void {
  if (this[owner] !== undefined) this[owner].connections -= 1;
}

function leaveRequest(this: ServerResponse & { [owner]?: ClientTraffic }): void {
  if (this[owner] !== undefined) this[owner].requestsInFlight -= 1;
}

function tooMany(what: string, headers: Record<string, string> = {}): Refusal {
  return new Refusal("CONCURRENCY_LIMITED", {
    message: `This client has too many ${what}.`,
    headers: { "retry-after": "1", ...headers },
  });
}
