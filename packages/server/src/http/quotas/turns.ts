import type { FastifyReply, FastifyRequest } from "fastify";
import { type BoundedGate, createBoundedGate } from "../../runtime/concurrency/bounded-gate.js";
import { Refusal } from "../refusal.js";
import type { Route } from "../route.js";
import { disconnected, whenAnswered } from "./concurrency-gate.js";

/**
 * Lets the requests of tenants take turns for the connections to the database, and those of the clients of one tenant among them. Without
 * it, a tenant whose requests wait for each other, as all that are written to one audit log do, or whose statements are slow, would take
 * all connections; payments, readiness and the leases of markets would then wait behind hundreds of its requests. Some connections are left
 * to what the process does by itself: writing accepted transactions, settling them, sending webhooks.
 *
 * Requests that stop something take turns of their own, beside the others: a client that keeps its colleagues' requests waiting must not
 * keep one of them from freezing a wallet, or from disabling that client. So do those that wait for a host that their client has named: it
 * can take 15 seconds, in which they need no connection to the database.
 */
export interface Turns {
  work: BoundedGate;
  stops: BoundedGate;
  calls: BoundedGate;
}

/** What a process can have waiting: each is a request whose body has arrived, within the limits of its client. */
const waitingLimits = { waitingMax: 10_000, waitingOfKeyMax: 1000, waitingOfMemberMax: 500 };
/** A client stops one thing at a time. */
const stopLimits = {
  concurrentOfMemberMax: 1,
  waitingMax: 2000,
  waitingOfKeyMax: 500,
  waitingOfMemberMax: 50,
};

/** Several tenants can wait at once for hosts that do not answer. */
const callLimits = { concurrentMax: 40, concurrentOfKeyMax: 8, concurrentOfMemberMax: 4, ...waitingLimits };

export function createTurns(databaseConnections: number): Turns {
  const kept = Math.max(1, Math.min(4, Math.floor(databaseConnections * 0.3)));
  const workMax = Math.max(1, databaseConnections - kept);
  // They use the connections that are kept, for a few milliseconds each. One is left to other tenants.
  const stopsMax = Math.max(2, kept);
  return {
    work: createBoundedGate({
      concurrentMax: workMax,
      concurrentOfKeyMax: Math.ceil(workMax / 2),
      ...waitingLimits,
    }),
    stops: createBoundedGate({ concurrentMax: stopsMax, concurrentOfKeyMax: stopsMax - 1, ...stopLimits }),
    calls: createBoundedGate(callLimits),
  };
}

export interface Caller {
  tenantId: string;
  clientId: string;
}

/** The handler of a route, run when it is the turn of its tenant and client. */
export function inTurn(
  { handle, isStop, callsOut }: Pick<Route, "handle" | "isStop" | "callsOut">,
  { work, stops, calls }: Turns,
  callerOf: (request: FastifyRequest) => Caller,
  beginTurn: (request: FastifyRequest, reply: FastifyReply) => Promise<void>,
): Route["handle"] {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { tenantId, clientId } = callerOf(request);
    const isOne = typeof isStop === "function" ? isStop(request.body) : isStop === true;
    const usual = callsOut === true ? calls : work;
    // A client that stops more at once than may wait for its own turns, such as hundreds of payments, takes the ordinary ones too.
    for (const gate of isOne ? [stops, usual] : [usual]) {
      const served = await gate.run(
        { key: tenantId, member: clientId },
        async () => {
          // It may have waited for long: its client can be gone, be disabled, or be in debt.
          if (request.raw.socket.destroyed) throw disconnected();
          await beginTurn(request, reply);
          return { answer: await handle(request, reply) };
        },
        (leave) => whenAnswered(request, reply, leave),
      );
      if (served !== "full") return served.answer;
    }
    throw request.raw.socket.destroyed ? disconnected() : tooManyWaiting();
  };
}

function tooManyWaiting(): Refusal {
  return new Refusal("CONCURRENCY_LIMITED", {
    message: "Too many requests of this tenant are waiting.",
    headers: { "retry-after": "1" },
  });
}
