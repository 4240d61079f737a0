import type { FastifyReply, FastifyRequest } from "fastify";
import { type BoundedGate, createBoundedGate } from "../../runtime/concurrency/bounded-gate.js";
import { Refusal } from "../refusal.js";
import type { Route } from "../route.js";
import { disconnected } from "./concurrency-gate.js";

/** What a process can have waiting: each is a request whose body has arrived, within the limits of its client. */
const waitingMax = 10_000;
const waitingOfTenantMax = 1000;

/**
 * Lets the requests of tenants take turns for the connections to the database. Without it, a tenant whose requests wait for each other, as
 * all that are written to one audit log do, or whose statements are slow, would take all connections; payments, readiness and the leases of
 * markets would then wait behind hundreds of its requests. Some connections are left to what the process does by itself: writing accepted
 * transactions, settling them, sending webhooks.
 */
export function createTurns(databaseConnections: number): BoundedGate {
  const kept = Math.max(1, Math.min(4, Math.floor(databaseConnections * 0.3)));
  const concurrentMax = Math.max(1, databaseConnections - kept);
  return createBoundedGate({
    concurrentMax,
    concurrentOfKeyMax: Math.ceil(concurrentMax / 2),
    waitingMax,
    waitingOfKeyMax: waitingOfTenantMax,
  });
}

/** The handler of a route, run when it is its tenant's turn. */
export function inTurn(
  handle: Route["handle"],
  turns: BoundedGate,
  tenantOf: (request: FastifyRequest) => string,
): Route["handle"] {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const served = await turns.run(tenantOf(request), async () => {
      // While it waited. A client that is gone needs no work done.
      if (request.raw.socket.destroyed) throw disconnected();
      return { answer: await handle(request, reply) };
    });
    if (served === "full") throw tooManyWaiting();
    return served.answer;
  };
}

function tooManyWaiting(): Refusal {
  return new Refusal("CONCURRENCY_LIMITED", {
    message: "Too many requests of this tenant are waiting.",
    headers: { "retry-after": "1" },
  });
}
