import { timeOfUuidV7 } from "@bursar/domain";
import type { Settlement } from "../app/transactions/settlement.js";
import type { WalletActivation } from "../app/wallets/wallet.js";
import { createBatchSize } from "../runtime/isolate-failing-rows.js";
import type { Timers } from "../runtime/timers.js";
import { createWakingLoop, type Rest, type WakingLoop } from "../runtime/waking-loop.js";
import type { ClaimBatch, SettleBatch } from "./settle-batch.js";

/** Drives what was accepted forward, batch by batch, until there is nothing left to do. Several may run beside each other. */
export type Engine = Pick<WakingLoop, "start" | "wake" | "stop">;

export interface EngineDeps {
  settleBatch: SettleBatch;
  wallets: WalletActivation;
  /** Called after each commit, with what has changed. */
  onChanged: (settled: readonly Settlement[]) => void;
  onError: (error: unknown) => void;
  now: () => number;
  /** A clock that nobody can set: the next look at everything comes also when the time of day was put back. */
  monotonicMs: () => number;
  timers: Pick<Timers, "after">;
}

const batchMax = 500;
/** Approvers are slower, and what expires costs more than what is settled. */
const rareMax = 100;
/** A wake-up from another process can be lost; this is how long its work waits then. */
const lookEveryMs = 200;
const pauseAfterErrorMs = 500;
/**
 * A row in a batch of 16 costs three times what it costs in a batch of 500, for the service and for PostgreSQL. So the engine lets
 * work gather after a batch that was not full: for a moment while little is going on, for longer under load, which needs the rows that
 * this saves.
 */
const lingerMs = 2;
const busyLingerMs = 25;
const busyFrom = 16;
const stepsPerRareLook = 20;
const recentMs = 2000;
const fullLookEveryMs = 1000;
const retryLookEveryMs = 1000;

export function createEngine(deps: EngineDeps): Engine {
  let steps = 0;
  const acceptedSize = createBatchSize(batchMax);
  const rareSize = createBatchSize(rareMax);
  let lastFullLookMs = Number.NEGATIVE_INFINITY;
  let lastRetryMs = Number.NEGATIVE_INFINITY;
  /** Where the last batch ended, if it was full: there is more behind it, however old. */
  let backlogFromMs: number | undefined;
  /** The last error: the other parts of a step are done before it is thrown. */
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
   * was committed late. A backlog is older than that: it is processed from the end of the last batch.
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
    const limit = acceptedSize.current();
    // Once a step: a unit of work that begins again, because accounts were missing, looks for the same rows.
    const from = claimFrom(now);
    const settled = await settle(acceptedSize, (unit) => unit.claimAccepted(limit, from));
    const last = settled?.at(-1);
    backlogFromMs =
      settled === undefined || last === undefined || settled.length < limit
        ? undefined
        : timeOfUuidV7(last.transaction.id);
    steps += 1;
    // New wallets and approvals are rare. Looking for them in every step would cost a busy engine round trips each time.
    const looksForRare = settled === undefined || settled.length === 0 || steps % stepsPerRareLook === 0;
    const rare = looksForRare ? await doRare(now) : 0;
    if (settled === undefined || rare === undefined) throw failure;
    return settled.length + rare;
  }

  /** How much was done; undefined if a part of it has failed. */
  async function doRare(now: Date): Promise<number | undefined> {
    const due = await settle(rareSize, (unit) => unit.claimDue(rareSize.current(), now));
    const retried = await retry(now);
    const activated = await deps.wallets.activateWallets(batchMax, now);
    if (due === undefined || retried === undefined) return undefined;
    return due.length + retried.length + activated;
  }

  /** What fails is tried again after seconds at the earliest, so there is no need to look for it more often. */
  async function retry(now: Date): Promise<Settlement[] | undefined> {
    const monotonicMs = deps.monotonicMs();
    if (monotonicMs - lastRetryMs < retryLookEveryMs) return [];
    lastRetryMs = monotonicMs;
    return await settle(rareSize, (unit) => unit.claimRetries(rareSize.current(), now));
  }

  async function settle(
    size: ReturnType<typeof createBatchSize>,
    claim: ClaimBatch,
  ): Promise<Settlement[] | undefined> {
    try {
      const settled = await deps.settleBatch(claim);
      size.grow();
      const changed = settled.filter(({ decision }) => decision !== undefined);
      if (changed.length > 0) deps.onChanged(changed);
      return settled;
    } catch (error) {
      // What is too much for a statement in one batch may not be in two.
      size.shrink();
      failure = error;
      return undefined;
    }
  }

  return loop;
}
