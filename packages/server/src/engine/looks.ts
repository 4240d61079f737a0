import type { SettlementStore, WaitingWork } from "../app/transactions/settlement.js";

/** Looks for tenants that nothing has woken the engine for, and for approvals, retries and new wallets. */
export interface Looks {
  /** Something may be waiting that no tenant was named for. */
  want: () => void;
  /** Begins a look if one is due. */
  beginIfDue: (now: Date) => void;
  /** When a look that is wanted can begin; infinity if none is, or one is in progress. */
  wantedInMs: () => number;
  /** Resolves when the look in progress has ended. */
  ended: () => Promise<void>;
}

export interface LooksDeps {
  findWork: SettlementStore["findWork"];
  onFound: (work: WaitingWork) => void;
  onError: (error: unknown) => void;
  /** Called after each look, whatever came of it. */
  onEnded: () => void;
  /** Whether other processes can wake this one at the moment. */
  isNotified: () => boolean;
  monotonicMs: () => number;
}

/**
 * While an old snapshot is open, as during a backup, PostgreSQL keeps the index entries of everything that was settled since, and a look at
 * `all` reads each of them. A look at what is `recent` passes over those that are older. What was accepted longer ago and is still not
 * settled had its turn before, or was found by a look at all.
 */
type Kind = "all" | "recent";

interface State {
  begunMs: number;
  tookMs: number;
  isWanted: boolean;
  /** The last tenant of a look that did not come to the end. */
  upTo: string | undefined;
}

const tenantsMax = 500;
/** For what was committed late, for approvals and retries that are due, and for what a lost notification was about. */
const everyMs = 1000;
const unnotifiedEveryMs = 200;
/** The next look of a kind begins after this many times what the last one took. */
const pauseFactors: Readonly<Record<Kind, number>> = { all: 20, recent: 4 };
const pauseMaxMs = 30_000;
/** A commit can be this much later than the id of what it has accepted, by far. */
const lateCommitMs = 30_000;
/** If looks at all fail for longer than this, those at what is recent do not reach back to the last that did not. */
const recentMaxMs = 600_000;

export function createLooks(deps: LooksDeps): Looks {
  const newState = () => ({
    begunMs: Number.NEGATIVE_INFINITY,
    tookMs: 0,
    isWanted: false,
    upTo: undefined,
  });
  const states: Readonly<Record<Kind, State>> = { all: newState(), recent: newState() };
  let looking: Promise<void> | undefined;
  /** The time of the last look at all tenants that came to their end. */
  let sawAllAtMs = 0;

  function restMs(kind: Kind): number {
    const { begunMs, tookMs } = states[kind];
    return begunMs + Math.min(tookMs * pauseFactors[kind], pauseMaxMs) - deps.monotonicMs();
  }

  function isTime(kind: Kind): boolean {
    const sinceMs = deps.monotonicMs() - states[kind].begunMs;
    return sinceMs >= (deps.isNotified() ? everyMs : unnotifiedEveryMs);
  }

  function chooseDue(): Kind | undefined {
    const { all, recent } = states;
    if ((all.isWanted || isTime("all")) && restMs("all") <= 0) return "all";
    return recent.isWanted || (isTime("recent") && restMs("recent") <= 0) ? "recent" : undefined;
  }

  function recentFrom(now: Date): Date {
    const sinceMs = Math.max(sawAllAtMs, now.getTime() - recentMaxMs);
    // The database's clock can have been put back.
    return new Date(Math.min(sinceMs, now.getTime()) - lateCommitMs);
  }

  async function look(kind: Kind, now: Date): Promise<void> {
    const state = states[kind];
    // A look at all is one at what is recent, too.
    for (const served of kind === "all" ? [states.all, states.recent] : [states.recent]) {
      served.isWanted = false;
      served.begunMs = deps.monotonicMs();
    }
    try {
      const work = await deps.findWork({
        ...{ limit: tenantsMax, afterTenantId: state.upTo, now },
        acceptedFrom: kind === "all" ? undefined : recentFrom(now),
      });
      state.upTo = work.tenants.length < tenantsMax ? undefined : work.tenants.at(-1)?.tenantId;
      if (kind === "all" && state.upTo === undefined) sawAllAtMs = now.getTime();
      deps.onFound(work);
    } catch (error) {
      deps.onError(error);
    } finally {
      looking = undefined;
      state.tookMs = deps.monotonicMs() - state.begunMs;
      deps.onEnded();
    }
  }

  return {
    want: () => {
      states.all.isWanted = true;
      states.recent.isWanted = true;
    },
    beginIfDue: (now) => {
      const kind = looking === undefined ? chooseDue() : undefined;
      if (kind !== undefined) looking = look(kind, now);
    },
    wantedInMs: () =>
      states.all.isWanted && looking === undefined ? Math.max(restMs("all"), 0) : Number.POSITIVE_INFINITY,
    ended: async () => await looking,
  };
}
