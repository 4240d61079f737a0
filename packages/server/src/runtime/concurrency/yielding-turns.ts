import type { Timers } from "../loops/timers.js";
import { createBoundedGate } from "./bounded-gate.js";

/**
 * Lets work that can wait begin a little at a time, so that what has arrived for other tenants is served in between. A piece, such as an
 * attempt to deliver or a slice of a batch, takes about a millisecond of the event loop, and a request of another tenant needs several of its
 * turns: with 64 pieces in each, it waited for hundreds of milliseconds. While nothing else is to be done, turns follow each other at once,
 * and a backlog is worked off as fast as without them.
 */
export interface YieldingTurns {
  /** Resolves when a piece of this tenant may begin. Tenants take turns, and so do the members of one, such as its endpoints. */
  take: (tenantId: string, member: string) => Promise<void>;
}

/** How many pieces begin in one turn of the event loop: of one tenant, and of all of them. */
const piecesOfTurn = { ofTenantMax: 1, max: 4 } as const;

/**
 * While other tenants make requests, pieces are begun for so long, and then none for a multiple of it. It is measured as time that passes,
 * so on a busy machine, where a turn of the event loop takes longer, fewer are begun.
 */
const spellMs = 4;
/** A backlog shrinks however busy the process is. */
const restMaxMs = 200;

export interface YieldingTurnsDeps {
  /** How long to rest before more is begun for this tenant, as a multiple of the work; 0 if no other tenant needs the time. */
  restPerWork: (tenantId: string) => number;
  monotonicMs: () => number;
  timers: Pick<Timers, "soon" | "after">;
}

export function createYieldingTurns(waitingMax: number, deps: YieldingTurnsDeps): YieldingTurns {
  const { restPerWork, monotonicMs, timers } = deps;
  const gate = createBoundedGate({
    concurrentMax: piecesOfTurn.max,
    concurrentOfKeyMax: piecesOfTurn.ofTenantMax,
    waitingMax,
    waitingOfKeyMax: waitingMax,
  });
  /** For how long pieces were begun since the last rest. */
  let workedMs = 0;
  let turn: Promise<void> | undefined;
  /** The longest rest that a tenant of this turn asks for. */
  let perWork = 0;
  const endOfTurn = () => new Promise<void>((resolve) => timers.soon(resolve));
  const rest = (ms: number) => new Promise<void>((resolve) => void timers.after(ms, resolve));

  /** Ends with this turn of the event loop, or with the rest that follows it. */
  async function takeTurn(): Promise<void> {
    perWork = 0;
    const beganMs = monotonicMs();
    await endOfTurn();
    workedMs += monotonicMs() - beganMs;
    if (workedMs < spellMs) return;
    const restMs = Math.min(workedMs * perWork, restMaxMs);
    workedMs = 0;
    await rest(restMs);
  }

  /** Pieces that begin in one turn end together, except those of a tenant that does not rest: a rest is for what others have caused. */
  function endOfSharedTurn(tenantId: string): Promise<void> {
    const ofTenant = restPerWork(tenantId);
    if (ofTenant === 0) return endOfTurn();
    turn ??= takeTurn().finally(() => {
      turn = undefined;
    });
    perWork = Math.max(perWork, ofTenant);
    return turn;
  }

  return {
    take: (tenantId, member) =>
      new Promise((begin, refuse) => {
        gate
          .run({ key: tenantId, member }, () => {
            begin();
            return endOfSharedTurn(tenantId);
          })
          .then((outcome) => {
            if (outcome === "full")
              refuse(new Error(`more than ${waitingMax} pieces of work wait for their turn`));
          }, refuse);
      }),
  };
}
