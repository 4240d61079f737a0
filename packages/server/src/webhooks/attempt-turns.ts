import type { EndpointKey } from "../app/webhooks/sending.js";
import { createBoundedGate } from "../runtime/concurrency/bounded-gate.js";
import type { Timers } from "../runtime/loops/timers.js";

/**
 * Lets deliveries begin a few at a time, so that what has arrived for other tenants is served in between. An attempt takes about a
 * millisecond of the event loop, and a request of another tenant needs several of its turns: with 64 attempts in each, it waited for
 * hundreds of milliseconds. While nothing else is to be done, turns follow each other at once, and a backlog is sent as fast as without them.
 */
export interface AttemptTurns {
  /** Resolves when an attempt for this endpoint may begin. Tenants take turns, and so do the endpoints of one. */
  take: (endpoint: EndpointKey) => Promise<void>;
}

/** How many attempts begin in one turn of the event loop: for one tenant, and for all of them. */
const attemptsOfTurn = { ofTenantMax: 1, max: 4 } as const;

export function createAttemptTurns(waitingMax: number, { soon }: Pick<Timers, "soon">): AttemptTurns {
  const gate = createBoundedGate({
    concurrentMax: attemptsOfTurn.max,
    concurrentOfKeyMax: attemptsOfTurn.ofTenantMax,
    waitingMax,
    waitingOfKeyMax: waitingMax,
  });
  const endOfTurn = () => new Promise<void>((resolve) => soon(resolve));

  return {
    take: ({ tenantId, endpointId }) =>
      new Promise((begin, refuse) => {
        gate
          .run({ key: tenantId, member: endpointId }, () => {
            begin();
            return endOfTurn();
          })
          .then((outcome) => {
            if (outcome === "full") refuse(new Error(`more than ${waitingMax} attempts wait for their turn`));
          }, refuse);
      }),
  };
}
