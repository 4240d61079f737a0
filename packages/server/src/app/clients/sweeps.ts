import type { Timers } from "../../runtime/timers.js";
import { createWakingLoop, type WakingLoop } from "../../runtime/waking-loop.js";

/**
 * What is left to do after a client was disabled or enabled, or a tenant suspended or resumed. It can concern many orders and
 * transactions, so it is recorded in the same SQL transaction and carried out afterwards in batches, by any process, also after a crash.
 * Doing a part of it twice changes nothing.
 */
export interface Sweep {
  tenantId: string;
  /** `allClients` stands for every client of the tenant. */
  clientId: string;
  kind: SweepKind;
  /** Who disabled or enabled it: the actor of what the sweep cancels. */
  requestedBy: string;
  /** What was requested later is left alone: a client can be enabled again before the sweep ends. */
  requestedAt: Date;
}

/** `release_transactions`: what waited because its client was disabled goes on. */
export type SweepKind = "cancel_orders" | "cancel_transactions" | "release_transactions";

export const allClients = "00000000-0000-0000-0000-000000000000";

export interface SweepStore {
  /** The oldest first. */
  listSweeps: (limit: number) => Promise<Sweep[]>;
  /** Requests that open orders are cancelled. Returns the market of each. */
  requestOrderCancels: (sweep: Sweep, limit: number) => Promise<string[]>;
  /** Whether an order that the sweep cancels is still open. */
  hasOpenOrders: (sweep: Pick<Sweep, "tenantId" | "clientId" | "requestedAt">) => Promise<boolean>;
  /** Transactions that no rail has begun to work on, in the order of their ids. */
  listUnsettled: (sweep: Sweep, afterId: string | undefined, limit: number) => Promise<string[]>;
  /** Requests that rails cancel what they are working on, if they can. */
  requestRailCancels: (sweep: Sweep) => Promise<void>;
  /** Lets the engine look at transactions that it has set aside. Returns their ids, in order. */
  releaseHeld: (sweep: Sweep, afterId: string | undefined, limit: number) => Promise<string[]>;
  finishSweep: (sweep: Sweep) => Promise<void>;
}

export interface SweeperDeps {
  store: SweepStore;
  /** Cancels those of these transactions that nobody else is working on; returns how many it could not cancel now. */
  cancelTransactions: (tenantId: string, ids: readonly string[], actorId: string) => Promise<number>;
  onOrdersRequested: (markets: readonly string[]) => void;
  onReleased: () => void;
  onRailsRequested: () => void;
  onError: (error: unknown) => void;
  now: () => number;
  timers: Pick<Timers, "after">;
}

export interface Sweeper extends Pick<WakingLoop, "start" | "wake" | "stop"> {
  /** Does everything that is recorded now. */
  run: () => Promise<void>;
  /** The same for a change that was just recorded, and waits for a few seconds until its orders are out of the books. */
  runFor: (change: { tenantId: string; clientId: string; isStopped: boolean }) => Promise<void>;
}

const sweepsMax = 100;
const batchMax = 100;
/** A process that has recorded a sweep also begins with it; this is for those that crashed. */
const lookEveryMs = 1000;
const pauseAfterErrorMs = 1000;
const skippedPauseMs = 20;
/** Longer than another process needs to acquire the lease of a market. */
const waitMaxMs = 5000;

export function createSweeper(deps: SweeperDeps): Sweeper {
  const { store, timers } = deps;
  const loop = createWakingLoop({
    step: async () => {
      await run();
      return { pauseMs: lookEveryMs };
    },
    onError: deps.onError,
    pauseAfterErrorMs,
    timers,
  });

  async function run(): Promise<void> {
    for (const sweep of await store.listSweeps(sweepsMax)) {
      await carryOut(sweep);
      await store.finishSweep(sweep);
    }
  }

  function carryOut(sweep: Sweep): Promise<void> {
    switch (sweep.kind) {
      case "cancel_orders":
        return cancelOrders(sweep);
      case "cancel_transactions":
        return cancelTransactions(sweep);
      case "release_transactions":
        return release(sweep);
    }
  }

  async function cancelOrders(sweep: Sweep): Promise<void> {
    for (;;) {
      const markets = await store.requestOrderCancels(sweep, batchMax);
      if (markets.length === 0) return;
      deps.onOrdersRequested([...new Set(markets)]);
    }
  }

  /** Passes over all of them until none is left: the engine may have been working on some. */
  async function cancelTransactions(sweep: Sweep): Promise<void> {
    await store.requestRailCancels(sweep);
    deps.onRailsRequested();
    for (let skipped = 1; skipped > 0; ) {
      skipped = 0;
      let ids = await store.listUnsettled(sweep, undefined, batchMax);
      while (ids.length > 0) {
        skipped += await deps.cancelTransactions(sweep.tenantId, ids, sweep.requestedBy);
        ids = await store.listUnsettled(sweep, ids.at(-1), batchMax);
      }
      if (skipped > 0) await pause(skippedPauseMs);
    }
  }

  async function release(sweep: Sweep): Promise<void> {
    let ids = await store.releaseHeld(sweep, undefined, batchMax);
    while (ids.length > 0) {
      deps.onReleased();
      ids = await store.releaseHeld(sweep, ids.at(-1), batchMax);
    }
  }

  const pause = (ms: number) => new Promise<void>((resolve) => void timers.after(ms, resolve));

  /** What takes longer, or fails, is left to the loop. */
  async function runFor({ tenantId, clientId, isStopped }: Parameters<Sweeper["runFor"]>[0]): Promise<void> {
    let isOver = false;
    const deadline = pause(waitMaxMs).then(() => {
      isOver = true;
    });
    const work = async () => {
      await run();
      const requestedAt = new Date(deps.now());
      while (isStopped && !isOver && (await store.hasOpenOrders({ tenantId, clientId, requestedAt })))
        await pause(skippedPauseMs);
    };
    await Promise.race([deadline, work().catch(deps.onError)]);
  }

  return { ...loop, run, runFor };
}
