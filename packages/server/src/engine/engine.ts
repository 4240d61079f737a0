import { timeOfUuidV7 } from "@bursar/domain";
import type {
  BatchShare,
  PlanBatch,
  SettledTransaction,
  SettlementStore,
} from "../app/transactions/settlement.js";
import type { WalletActivation } from "../app/wallets/wallet.js";
import type { Timers } from "../runtime/timers.js";
import { createWakingLoop, type Rest, type WakingLoop } from "../runtime/waking-loop.js";
import { type BatchShareKeeper, createBatchShareKeeper } from "./batch-share.js";

/** Drives what was accepted forward, batch by batch, until there is nothing left to do. Several may run beside each other. */
export type Engine = Pick<WakingLoop, "start" | "wake" | "stop">;

export interface EngineDeps {
  settlements: Pick<SettlementStore, "settleAccepted" | "settleDue">;
  plan: PlanBatch;
  wallets: WalletActivation;
  /** Called after each commit, with what has changed. */
  onChanged: (ids: readonly string[]) => void;
  onError: (error: unknown) => void;
  /** Whether an error means that the database is away, or out of time. */
  isUnavailable: (error: unknown) => boolean;
  now: () => number;
  /** A clock that nobody can set: the next look at everything comes also when the time of day was put back. */
  monotonicMs: () => number;
  timers: Pick<Timers, "after">;
}

const batchMax = 500;
/** People are slower, and what expires costs more than what is settled. */
const dueMax = 100;
/** A hint of another process can be lost; this is how long its work waits then. */
const lookEveryMs = 200;
const pauseAfterErrorMs = 500;
/**
 * A row in a batch of 16 costs three times what it costs in a batch of 500, for the service and for PostgreSQL. So the engine lets
 * work gather after a batch that was not full: for a moment while little is going on, for longer under load, where the rows that
 * it saves are what the load needs.
 */
const lingerMs = 2;
const busyLingerMs = 25;
const busyFrom = 16;
const stepsPerRareLook = 20;
const recentMs = 2000;
const fullLookEveryMs = 1000;

export function createEngine(deps: EngineDeps): Engine {
  let steps = 0;
  const accepted = createBatchShareKeeper(batchMax, deps.monotonicMs);
  const due = createBatchShareKeeper(dueMax, deps.monotonicMs);
  let lastFullLookMs = Number.NEGATIVE_INFINITY;
  /** Where the last batch ended, if it was full: there is more behind it, however old. */
  let backlogFromMs: number | undefined;
  /** The last error: the other parts of a step are done before it is told. */
  let failure: unknown;
  const { onError, timers } = deps;
  const loop = createWakingLoop({ step: stepAndRest, onError, pauseAfterErrorMs, timers });

  async function stepAndRest(): Promise<Rest> {
    const done = await step();
    if (done === 0 && !loop.isWoken()) return { pauseMs: lookEveryMs };
    return done < batchMax ? { lingerMs: done < busyFrom ? lingerMs : busyLingerMs } : undefined;
  }

  /**
   * From when on to claim. What was settled a moment ago leaves dead entries at the start of the index until they are cleaned
   * up, and every claim would read past all of them; so only what is recent is looked at, and all of it once a second, for what
   * was committed late. A backlog is older than that: it is worked off from where the last batch ended.
   */
  function claimFrom(now: Date): Date | undefined {
    const monotonicMs = deps.monotonicMs();
    if (monotonicMs - lastFullLookMs >= fullLookEveryMs) {
      lastFullLookMs = monotonicMs;
      return undefined;
    }
    return new Date(Math.min(backlogFromMs ?? Number.POSITIVE_INFINITY, now.getTime() - recentMs));
  }

  async function step(): Promise<number> {
    const now = new Date(deps.now());
    const { limit } = accepted.share();
    const settled = await settle(accepted, (share) =>
      deps.settlements.settleAccepted(share, claimFrom(now), deps.plan),
    );
    const last = settled?.at(-1);
    backlogFromMs =
      settled === undefined || last === undefined || settled.length < limit
        ? undefined
        : timeOfUuidV7(last.id);
    steps += 1;
    // New wallets and people's decisions are rare. Looking for them in every step would cost a busy engine round trips each time.
    const looksForRare = settled === undefined || settled.length === 0 || steps % stepsPerRareLook === 0;
    const rare = looksForRare ? await doRare(now) : 0;
    if (settled === undefined || rare === undefined) throw failure;
    return settled.length + rare;
  }

  /** What was done; undefined where a part of it has failed. */
  async function doRare(now: Date): Promise<number | undefined> {
    const heard = await settle(due, (share) => deps.settlements.settleDue(share, now, deps.plan));
    const activated = await deps.wallets.activateWallets(batchMax, now);
    return heard === undefined ? undefined : heard.length + activated;
  }

  async function settle(
    keeper: BatchShareKeeper,
    work: (share: BatchShare) => Promise<SettledTransaction[]>,
  ): Promise<SettledTransaction[] | undefined> {
    try {
      const settled = await work(keeper.share());
      keeper.succeeded();
      tell(settled);
      return settled;
    } catch (error) {
      keeper.failed(deps.isUnavailable(error));
      failure = error;
      return undefined;
    }
  }

  function tell(changed: readonly { id: string }[]): void {
    if (changed.length > 0) deps.onChanged(changed.map(({ id }) => id));
  }

  return loop;
}
