import { staleTokensMs } from "@bursar/domain";
import pLimit from "p-limit";
import type { LongWait } from "../../runtime/concurrency/long-wait.js";
import { createWakingLoop, type WakingLoop } from "../../runtime/loops/waking-loop.js";
import { createRecentCache } from "../../runtime/recent-cache.js";
import type { HoldOrders } from "../access/stop-in-any-case.js";
import { createStoppedWork, type StoppedWorkDeps } from "./stopped-work.js";
import { allClients, type Sweep, type SweepGroup, type SweepStore } from "./sweep.js";

export interface SweeperDeps extends StoppedWorkDeps {
  store: SweepStore;
  holdOrders: HoldOrders;
  longWait: LongWait;
  onReleased: () => void;
  /** Whether an error is a lock that was waited for in vain. */
  isLockTimeout: (error: unknown) => boolean;
  now: () => number;
}

export interface Sweeper extends Pick<WakingLoop, "start" | "wake" | "stop"> {
  /** Begins every sweep again, because the database may have gone back to an earlier state. */
  reset: () => void;
  /** Gives every recorded sweep one turn. Returns whether one of them has more to do at once. */
  run: () => Promise<boolean>;
  /**
   * Carries out a change that was just recorded, and waits until its orders are out of the books; for a few seconds at most, and only briefly
   * if another stop waits already. What is not done by then is left to the loop, and the orders do not trade.
   */
  runFor: (change: { tenantId: string; clientId: string; isStopped: boolean }) => Promise<void>;
}

const sweepsMax = 100;
const batchMax = 100;
/** What a sweep does in one turn. Then it is the turn of the next, so that a long one does not delay those of other tenants. */
const batchesOfTurnMax = 5;
/** A process that has recorded a sweep also begins with it; this is for those that crashed. */
const lookEveryMs = 2000;
/** How long the loop leaves a sweep alone that has failed, or that could not cancel everything. */
const restMs = 1000;
/** How long nothing is swept of a tenant in whose rows something else holds a lock. The others wait for it for a second each time. */
const stalledRestMs = 5000;
const skippedPauseMs = 20;
/** Losing a position is harmless: the sweep begins again. */
const positionsMax = 1000;

/**
 * `skipped`: it has passed over everything, and some could not be cancelled because the engine was working on them. `early`: it has cancelled
 * everything, and passes once more when nothing that was requested before the stop can still be on its way.
 */
type Turn = "finished" | "more" | "skipped" | "failed" | "early";

/** How far a sweep has come in its pass, and how many transactions the pass could not cancel. */
interface Position {
  after: string | undefined;
  skippedCount: number;
}

const start: Position = { after: undefined, skippedCount: 0 };

export function createSweeper(deps: SweeperDeps): Sweeper {
  const { store, timers } = deps;
  const positions = createRecentCache<Position>(positionsMax);
  let resets = 0;
  const resting = new Set<string>();
  /** Tenants in whose rows something else holds a lock. One of them can have many sweeps. */
  const stalled = { orders: new Set<string>(), transactions: new Set<string>() };
  /** One turn of a group at a time, whether it is the loop's or that of a change: sweeps leave the database to requests. */
  const turns = { orders: pLimit(1), transactions: pLimit(1) };
  const loopOf = (group: SweepGroup) =>
    createWakingLoop({
      step: async () => ((await runGroup(group)) ? undefined : { pauseMs: lookEveryMs }),
      onError: deps.onError,
      pauseAfterErrorMs: restMs,
      timers,
    });
  const stoppedWork = createStoppedWork(deps);
  const loops = [loopOf("orders"), loopOf("transactions"), ...stoppedWork.loops] as const;
  const isStopping = () => loops[0].isStopping();

  async function runGroup(group: SweepGroup): Promise<boolean> {
    let hasMore = false;
    for (const sweep of await store.listSweeps(group, sweepsMax)) {
      if (isStopping()) return false;
      const key = keyOf(sweep);
      if (resting.has(key)) continue;
      const turn = await turns[group](() => takeTurn(group, sweep));
      if (turn === "more") hasMore = true;
      if (turn === "skipped" || turn === "failed") rest(key, restMs);
    }
    return hasMore;
  }

  function rest(key: string, ms: number): void {
    resting.add(key);
    timers.after(ms, () => resting.delete(key));
  }

  /** A sweep that fails must not keep the others from their turns. */
  async function takeTurn(group: SweepGroup, sweep: Sweep): Promise<Turn> {
    const { tenantId } = sweep;
    if (stalled[group].has(tenantId)) return "failed";
    const resetsBefore = resets;
    try {
      const turn = await carryOut(sweep);
      if (resets !== resetsBefore) return "more";
      if (turn !== "finished") return turn;
      const earlyMs = sweep.requestedAt.getTime() + staleTokensMs - deps.now();
      if (sweep.kind === "cancel_transactions" && earlyMs > 0) {
        rest(keyOf(sweep), Math.min(earlyMs, staleTokensMs));
        return "early";
      }
      await store.finishSweep(sweep);
      return turn;
    } catch (error) {
      if (deps.isLockTimeout(error)) {
        stalled[group].add(tenantId);
        timers.after(stalledRestMs, () => stalled[group].delete(tenantId));
      }
      deps.onError(error);
      return "failed";
    }
  }

  function carryOut(sweep: Sweep): Promise<Turn> {
    switch (sweep.kind) {
      case "cancel_orders":
        return cancelOrders(sweep);
      case "cancel_transactions":
        return cancelTransactions(sweep);
      case "release_transactions":
        return release(sweep);
    }
  }

  async function cancelOrders(sweep: Sweep): Promise<Turn> {
    for (let batch = 0; batch < batchesOfTurnMax; batch++) {
      const markets = await store.requestOrderCancels(sweep, batchMax);
      if (markets.length === 0) return "finished";
      deps.onOrdersRequested([...new Set(markets)]);
    }
    return "more";
  }

  /** Passes over all of them until a pass has skipped none: the engine may have been working on some. */
  async function cancelTransactions(sweep: Sweep): Promise<Turn> {
    const key = keyOf(sweep);
    const resetsBefore = resets;
    let { after, skippedCount } = positions.get(key) ?? start;
    for (let batch = 0; batch < batchesOfTurnMax; batch++) {
      const { unsettled, onRail, next } = await store.listOpen(sweep, after, batchMax);
      if (onRail.length > 0) {
        await store.requestRailCancels(sweep, onRail);
        deps.onRailsRequested();
      }
      if (unsettled.length > 0)
        skippedCount += await deps.cancelTransactions(sweep.tenantId, unsettled, sweep.requestedBy);
      if (next === undefined) {
        positions.delete(key);
        return skippedCount === 0 ? "finished" : "skipped";
      }
      after = next;
    }
    if (resets === resetsBefore) positions.set(key, { after, skippedCount });
    return "more";
  }

  async function release(sweep: Sweep): Promise<Turn> {
    const key = keyOf(sweep);
    const resetsBefore = resets;
    let { after } = positions.get(key) ?? start;
    for (let batch = 0; batch < batchesOfTurnMax; batch++) {
      const { releasedCount, next } = await store.releaseHeld(sweep, after, batchMax);
      if (releasedCount > 0) deps.onReleased();
      if (next === undefined) {
        positions.delete(key);
        return "finished";
      }
      after = next;
    }
    if (resets === resetsBefore) positions.set(key, { after, skippedCount: 0 });
    return "more";
  }

  const pause = (ms: number) => new Promise<void>((resolve) => void timers.after(ms, resolve));

  /** What takes longer, or fails, is left to the loop. Orders that are in a book by then do not trade any more. */
  const runFor: Sweeper["runFor"] = (change) => deps.longWait.run((waitMs) => carryOutWithin(waitMs, change));

  async function carryOutWithin(
    waitMs: number,
    { isStopped, ...of }: Parameters<Sweeper["runFor"]>[0],
  ): Promise<void> {
    let isOver = false;
    const deadline = pause(waitMs).then(() => {
      isOver = true;
      return false;
    });
    const hasTime = () => !isOver && !isStopping();
    const work = async () => {
      await Promise.all([sweepClient("orders", of, hasTime), sweepClient("transactions", of, hasTime)]);
      const requestedAt = new Date(deps.now());
      while (isStopped && (await store.hasOpenOrders({ ...of, requestedAt }))) {
        if (!hasTime()) return false;
        await pause(skippedPauseMs);
      }
      return true;
    };
    const failed = (error: unknown) => {
      deps.onError(error);
      return false;
    };
    const isDone = await Promise.race([deadline, work().catch(failed)]);
    if (!isStopped || isDone) return;
    const subjectId = of.clientId === allClients ? of.tenantId : of.clientId;
    await deps.holdOrders({ tenantId: of.tenantId, subjectId });
  }

  async function sweepClient(
    group: SweepGroup,
    of: Pick<Sweep, "tenantId" | "clientId">,
    hasTime: () => boolean,
  ): Promise<void> {
    let left = await store.listSweeps(group, sweepsMax, of);
    while (left.length > 0 && hasTime()) {
      const next: Sweep[] = [];
      let hasSkipped = false;
      for (const sweep of left) {
        const turn = await turns[group](() => (hasTime() ? takeTurn(group, sweep) : "failed"));
        if (turn === "more" || turn === "skipped") next.push(sweep);
        if (turn === "skipped") hasSkipped = true;
      }
      if (hasSkipped) await pause(skippedPauseMs);
      left = next;
    }
  }

  return {
    start: () => {
      for (const loop of loops) loop.start();
    },
    wake: () => {
      for (const loop of loops) loop.wake();
    },
    stop: async () => {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
    run: async () => (await Promise.all([runGroup("orders"), runGroup("transactions")])).includes(true),
    runFor,
    reset: () => {
      resets += 1;
      stoppedWork.reset();
      positions.clear();
    },
  };
}

/** With the time: a sweep that is requested again begins again. */
function keyOf({ tenantId, clientId, kind, requestedAt }: Sweep): string {
  return `${tenantId} ${clientId} ${kind} ${requestedAt.getTime()}`;
}
