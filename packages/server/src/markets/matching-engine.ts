import {
  accountsOfChanges,
  applyInPlace,
  type Book,
  bandAfter,
  orderStates,
  type PriceBand,
  restoreBand,
  restoreBook,
} from "@bursar/domain";
import {
  type ClaimedOrder,
  type CommandPosition,
  type LockedKey,
  type MarketCommand,
  type MarketHalt,
  type MarketLease,
  MarketMovedError,
  type MarketUnit,
  StoppedOrderError,
} from "../app/markets/market-store.js";
import { planJudgement } from "../app/policy/judge-batch.js";
import { createBatchSize } from "../runtime/concurrency/isolate-failing-rows.js";
import { createLeaseKeeper, LeaseLostError } from "../runtime/loops/lease.js";
import { createSoleLease } from "../runtime/loops/sole-lease.js";
import { createWakingLoop, type Rest, untilTick, type WakingLoop } from "../runtime/loops/waking-loop.js";
import {
  accountsOfOrders,
  admitOrders,
  countOpenOrders,
  type OpenOrderCounts,
  pricesOf,
  requestsToJudge,
} from "./admit-orders.js";
import {
  applyCommands,
  assertTradersFree,
  cancelStopped,
  countUnlogged,
  takeLevelChanges,
  touchedOrders,
  tradesOf,
} from "./apply-commands.js";
import { createMarketClock } from "./market-clock.js";
import { createMarketFaults } from "./market-faults.js";
import type { MatchingEngineDeps } from "./matching-engine-deps.js";
import { settleCommands } from "./settle-commands.js";

/**
 * Runs a market while it holds the market's lease, in two steps: it admits orders, which holds their funds and appends commands to the
 * market's log; and it executes commands in the book in memory and writes what they did. Nothing is shown before its commit, and after
 * anything unexpected the book is dropped and restored from what was committed.
 */
export interface MatchingEngine extends Pick<WakingLoop, "start" | "wake" | "stop"> {
  /** Whether it holds the lease now, as far as it knows. */
  isRunning: () => boolean;
  /** Drops the book and the lease, because the database may have gone back to an earlier state. */
  reset: () => void;
}

/** As large as the group commit in front of it. */
const batchMax = 256;
const ordersMax = 1_000_000;
/** A batch ends when its commands have had this many effects; its last command may add as many as one order can match others. */
const effectsMax = 1000;
/** A notification of another process can be lost; its work waits this long then. */
const pollEveryMs = 200;
/** While notifications arrive, polling is only for what was lost, and for orders that are retried. */
const idlePollEveryMs = 2000;
/** How often a process that does not hold the lease tries to acquire it, in one statement for all markets. */
const acquireEveryMs = 1000;
const retryEveryMs = 500;
/** Lets commands gather under load: a batch costs two commits, whatever its size. */
const lingerMs = 2;

/** A market whose lease is held: its book, and the commands of its log that the book has not executed. */
interface RunningMarket {
  lease: MarketLease;
  book: Book;
  waiting: readonly MarketCommand[];
  /** Orders that must not trade; those that rest are cancelled by the first of the commands. */
  stopped: ReadonlySet<string>;
  open: OpenOrderCounts;
  position: CommandPosition;
  /** After the commands that the book has executed. */
  band: PriceBand;
}

export function createMatchingEngine(deps: MatchingEngineDeps): MatchingEngine {
  const { market, store, now } = deps;
  const renewEveryMs = deps.leaseMs / 4;
  const leases = createLeaseKeeper({
    store: deps.leases,
    holder: deps.holder,
    leaseMs: deps.leaseMs,
    renewEveryMs,
    nameOf: (lease) => lease.market,
    monotonicMs: deps.monotonicMs,
  });
  const ownLease = createSoleLease({ leases, wanted: market.name, what: `the market ${market.name}` });
  const admissionSize = createBatchSize(batchMax);
  let running: RunningMarket | undefined;
  let afterTenantId: string | undefined;
  let areNewFirst = true;
  let withStops = false;
  const tick = createMarketClock(now);
  const faults = createMarketFaults(market.name, deps.isUnavailable, now);

  const loop = createWakingLoop({
    step: async (): Promise<Rest> => {
      const halt = faults.halt();
      running ??= await ownLease.begin(halt === undefined ? load : (lease) => stopAt(lease, halt));
      const nextTick = (everyMs: number) => ({ pauseMs: untilTick(deps.monotonicMs(), everyMs) });
      if (running === undefined) return nextTick(acquireEveryMs);
      const isBusy = await step(running);
      faults.clear();
      if (isBusy) return { lingerMs };
      return nextTick(deps.isNotified() ? Math.min(idlePollEveryMs, renewEveryMs) : pollEveryMs);
    },
    onError: (error) => {
      running = undefined;
      faults.add(error);
      withStops ||= error instanceof StoppedOrderError;
      if (error instanceof LeaseLostError) {
        ownLease.forget();
        deps.onLost();
      } else deps.onError(error);
    },
    pauseAfterErrorMs: retryEveryMs,
    timers: deps.timers,
  });

  async function stopAt(lease: MarketLease, halt: MarketHalt): Promise<undefined> {
    await store.halt(lease, halt);
    faults.clear();
    deps.onHalted(halt.reason);
  }

  /** Restores the book. Undefined while the market is halted. */
  async function load(lease: MarketLease): Promise<RunningMarket | undefined> {
    const loaded = await store.load(lease, deps.leaseMs, withStops);
    if (loaded === undefined) return undefined;
    const { orders, waiting, stopped, band, notBefore, position } = loaded;
    tick(notBefore.getTime());
    const book = restoreBook(orders, { ordersMax });
    await ownLease.renew(lease);
    return {
      lease,
      book,
      waiting: [...cancelStopped(loaded), ...waiting],
      stopped,
      open: countOpenOrders(orders, waiting),
      position,
      band: restoreBand(band, market.referencePrice),
    };
  }

  /** Executes the commands that wait, or admits new orders and executes theirs. Returns whether there was anything to do. */
  async function step(current: RunningMarket): Promise<boolean> {
    await ownLease.renewIfDue(current.lease);
    if (current.waiting.length === 0) {
      if (!(await store.hasWork(market.name, new Date(now())))) return false;
      current.waiting = await admitOrIsolate(current);
      current.position.admittedSequence =
        current.waiting.at(-1)?.sequence ?? current.position.admittedSequence;
      for (const { kind, tenantId } of current.waiting) if (kind === "place") current.open.add(tenantId);
    }
    const commands = current.waiting.slice(0, countUnlogged(current) + faults.batchMax());
    if (commands.length > 0) await execute(current, commands);
    return true;
  }

  /**
   * Admits orders. A batch that fails is tried again with half as many, and an order that fails alone records it, so that the others go
   * on. The book has not changed by then, so it need not be restored.
   */
  async function admitOrIsolate(current: RunningMarket): Promise<MarketCommand[]> {
    let claimed: readonly ClaimedOrder[] = [];
    try {
      const commands = await admit(current, (orders) => {
        claimed = orders;
      });
      admissionSize.grow();
      return commands;
    } catch (error) {
      const [order] = claimed;
      const isOrders = !(error instanceof LeaseLostError || error instanceof MarketMovedError);
      if (!isOrders || deps.isUnavailable(error) || order === undefined) throw error;
      if (claimed.length > 1) admissionSize.shrink();
      else {
        deps.onOrderFailed(order.id, error);
        await store.recordFailure(order, error, new Date(now()));
      }
      return [];
    }
  }

  /** Claim, lock, decide, write: orders become commands, or are rejected. */
  function admit(
    current: RunningMarket,
    onClaimed: (orders: readonly ClaimedOrder[]) => void,
  ): Promise<MarketCommand[]> {
    const { lease: held, open, position } = current;
    // A unit of work that begins again claims the same.
    const turn = { afterTenantId, areNewFirst };
    const decide = async (unit: MarketUnit) => {
      const limit = admissionSize.current();
      const claimed = await unit.claimOrders({ ...turn, limit, now: new Date(now()) });
      const tenantIds = [...new Set(claimed.map(({ tenantId }) => tenantId))].sort();
      // With as many tenants as orders, there may be others behind them.
      afterTenantId = tenantIds.length < limit ? undefined : tenantIds.at(-1);
      // After a whole round, so that each tenant has both orders in turn, on any page.
      areNewFirst = afterTenantId === undefined ? !turn.areNewFirst : turn.areNewFirst;
      onClaimed(claimed);
      if (claimed.length === 0) return [];
      const { policies, windows } = await planJudgement(
        deps.policies.within(unit),
        requestsToJudge(market, claimed),
      );
      const acceptedMs = Math.max(...claimed.map(({ createdAt }) => createdAt.getTime()));
      const usage = await unit.lockUsage(windows, tick(acceptedMs));
      const balances = await unit.lockAccounts(accountsOfOrders(market, claimed));
      // The time of the decision, when everything is locked: what happened before it has been seen.
      const occurredAt = tick(acceptedMs);
      const { openOrdersMax } = deps;
      const prices = pricesOf(market, current);
      const facts = { market, balances, usage, policies, open, openOrdersMax, prices, occurredAt };
      return await unit.writeAdmission(claimed, admitOrders(claimed, facts), balances);
    };
    return store.unitOfWork(held, decide, position);
  }

  /** The book decides, and then: lock, compute, write. */
  async function execute(current: RunningMarket, commands: readonly MarketCommand[]): Promise<void> {
    const results = await apply(current, commands);
    const band = bandAfter(current.band, tradesOf(results));
    const batch = {
      sequence: results.at(-1)?.command.sequence ?? 0,
      levelChanges: takeLevelChanges(current.book),
      band,
      occurredAt: tick(),
    };
    const settle = async (unit: MarketUnit) => {
      const orders = await unit.lockOrders(touchedOrders(results));
      assertTradersFree(results, orders);
      const { changes, trades, ledger } = settleCommands(market, results, orders, deps.newUuid);
      const balances = await unit.lockAccounts(accountsOfChanges([ledger]));
      // Everything is paid from a hold, so nothing can be insufficient.
      if (applyInPlace(balances, ledger) !== undefined)
        throw new Error(`the orders of ${market.name} hold less than they pay`);
      const written = { ...batch, changes, trades, entries: ledger.postings };
      return { changes, delta: await unit.writeBatch(written, balances) };
    };
    const { changes, delta } = await store
      .unitOfWork(current.lease, settle, current.position)
      .catch((error: unknown) => blame(current.lease, touchedOrders(results), error));
    current.position.appliedSequence = batch.sequence;
    current.waiting = current.waiting.slice(results.length);
    withStops = false;
    current.band = band;
    for (const { state, tenantId } of changes) if (orderStates[state].final) current.open.remove(tenantId);
    if (delta !== undefined) deps.onDelta(delta);
  }

  /** An error here is about a command that the book cannot read. */
  async function apply({ lease, book, stopped }: RunningMarket, commands: readonly MarketCommand[]) {
    try {
      return applyCommands(book, market, commands, effectsMax, stopped);
    } catch (error) {
      const [{ tenantId, orderId: id } = { tenantId: "", orderId: "" }] = commands;
      return await blame(lease, [{ tenantId, id }], error);
    }
  }

  /** After an error of a command that was executed alone. The market is loaded again, without the orders that were set aside. */
  async function blame(lease: MarketLease, orders: readonly LockedKey[], error: unknown): Promise<never> {
    if (faults.isOfOneCommand(error)) {
      const count = await store.setAsideFaulty(lease, orders, error);
      if (count > 0) faults.clear();
    }
    throw error;
  }

  return {
    ...loop,
    isRunning: () => running !== undefined,
    reset: () => {
      running = undefined;
      ownLease.reset();
      loop.wake();
    },
    stop: async () => {
      await loop.stop();
      await ownLease.release().catch(deps.onError);
    },
  };
}
