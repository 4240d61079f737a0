import { type Book, orderStates, restoreBook, type TradedMarket } from "@bursar/domain";
import type {
  LevelChangeRow,
  MarketCommand,
  MarketDelta,
  MarketLease,
  MarketLeases,
  MarketStore,
  OrderChange,
} from "../app/markets/market-store.js";
import type { ActivePolicies } from "../app/policy/policy.js";
import { createLeaseKeeper, LeaseLostError } from "../runtime/lease.js";
import type { Timers } from "../runtime/timers.js";
import { createWakingLoop, type Rest, type WakingLoop } from "../runtime/waking-loop.js";
import { applyCommands, touchedOrders } from "./apply-commands.js";
import { countOpenOrders, type OpenOrderCounts } from "./open-order-counts.js";
import { createAdmissionPlanner } from "./plan-admission.js";
import { settleCommands } from "./settle-commands.js";

/**
 * Owns a market while it holds the lease: takes commands down, matches them in memory and writes what they did. Nothing is shown
 * before its commit, and after anything unexpected the book is thrown away and made anew of what was committed.
 */
export interface MarketOwner extends Pick<WakingLoop, "start" | "wake" | "stop"> {
  /** Whether it has the market now, as far as it knows. */
  owns: () => boolean;
}

export interface MarketOwnerDeps {
  market: TradedMarket;
  store: MarketStore;
  leases: MarketLeases;
  policies: Pick<ActivePolicies, "peek" | "load">;
  /** Names this process among those that could own the market. */
  holder: string;
  leaseMs: number;
  /** How many orders a tenant may have open here. */
  openOrdersMax: number;
  /** Called after the commit of each change of a level. */
  onDelta: (delta: MarketDelta) => void;
  onError: (error: unknown) => void;
  /** Called when it is found that somebody else has the market. */
  onLost: () => void;
  newUuid: () => string;
  now: () => number;
  /** A clock that nobody can set back. */
  monotonicMs: () => number;
  timers: Pick<Timers, "after">;
}

/** As large as the group commit in front of it. */
const batchMax = 256;
const ordersMax = 1_000_000;
/** A batch is over when its commands have had so many effects; its last command may have as many more as one order may meet others. */
const effectsMax = 1000;
/** A hint of another process can be lost; this is how long its work waits then. */
const lookEveryMs = 200;
/** How often one who waits for a market looks whether it is free. */
const retryEveryMs = 500;
/** Lets commands gather under load: a batch costs two commits, whatever is in it. */
const lingerMs = 2;

/** A market that is owned: its lease, its book, and commands that are taken down and not carried out. */
interface Owned {
  lease: MarketLease;
  book: Book;
  waiting: readonly MarketCommand[];
  open: OpenOrderCounts;
}

export function createMarketOwner(deps: MarketOwnerDeps): MarketOwner {
  const { market, store, now } = deps;
  const leases = createLeaseKeeper({
    store: deps.leases,
    holder: deps.holder,
    leaseMs: deps.leaseMs,
    renewEveryMs: deps.leaseMs / 4,
    nameOf: (lease) => lease.market,
    monotonicMs: deps.monotonicMs,
  });
  let owned: Owned | undefined;
  let lease: MarketLease | undefined;
  /** No event is before the one before it, or before the order that it is about, whatever the clocks say. */
  let clockMs = 0;

  const tick = (atLeastMs = 0) => {
    clockMs = Math.max(clockMs, now(), atLeastMs);
    return new Date(clockMs);
  };

  const loop = createWakingLoop({
    step: async (): Promise<Rest> => {
      owned ??= await own();
      if (owned === undefined) return { pauseMs: retryEveryMs };
      return (await step(owned)) ? { lingerMs } : { pauseMs: lookEveryMs };
    },
    onError: (error) => {
      owned = undefined;
      if (error instanceof LeaseLostError) {
        lease = undefined;
        deps.onLost();
      } else deps.onError(error);
    },
    pauseAfterErrorMs: retryEveryMs,
    timers: deps.timers,
  });

  /** Takes the market, or what is left of it after an error, and makes its book. */
  async function own(): Promise<Owned | undefined> {
    lease ??= (await leases.acquire(market.name))[0];
    if (lease === undefined) return undefined;
    const { orders, waiting, notBefore } = await store.load(lease, deps.leaseMs);
    tick(notBefore.getTime());
    const book = restoreBook(orders, { ordersMax });
    await renew(lease);
    return { lease, book, waiting, open: countOpenOrders(orders, waiting) };
  }

  /** Carries out what is waiting, or takes down what is new and carries that out; whether there was anything. */
  async function step(current: Owned): Promise<boolean> {
    if (leases.isRenewalDue()) await renew(current.lease);
    if (current.waiting.length === 0) {
      if (!(await store.hasWork(market.name))) return false;
      const { openOrdersMax, policies } = deps;
      const plan = createAdmissionPlanner({ market, policies, tick, open: current.open, openOrdersMax });
      current.waiting = await store.admit(current.lease, batchMax, plan);
      for (const { kind, tenantId } of current.waiting) if (kind === "place") current.open.add(tenantId);
    }
    const commands = current.waiting.slice(0, batchMax);
    if (commands.length > 0) await carryOut(current, commands);
    return true;
  }

  async function carryOut(current: Owned, commands: readonly MarketCommand[]): Promise<void> {
    const results = applyCommands(current.book, market, commands, effectsMax);
    let changes: readonly OrderChange[] = [];
    const delta = await store.apply(current.lease, {
      sequence: results.at(-1)?.command.sequence ?? 0,
      levelChanges: current.book
        .takeLevelChanges()
        .map(({ side, price, size, orderCount }): LevelChangeRow => [side, price, size, orderCount]),
      occurredAt: tick(),
      touched: touchedOrders(results),
      settle: (orders) => {
        const settled = settleCommands(market, results, orders, deps.newUuid);
        changes = settled.changes;
        return settled;
      },
    });
    current.waiting = current.waiting.slice(results.length);
    for (const { state, tenantId } of changes) if (orderStates[state].final) current.open.remove(tenantId);
    if (delta !== undefined) deps.onDelta(delta);
  }

  async function renew(held: MarketLease): Promise<void> {
    const renewed = await leases.renew([held]);
    if (renewed.size === 0) throw new LeaseLostError(`another process owns the market ${market.name}`);
  }

  return {
    ...loop,
    owns: () => owned !== undefined,
    stop: async () => {
      await loop.stop();
      if (lease !== undefined) await leases.release([lease]).catch(deps.onError);
    },
  };
}
