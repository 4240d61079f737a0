import {
  centreOf,
  type MarketPrices,
  type PriceBand,
  priceRange,
  restoreBand,
  type TradedMarket,
} from "@bursar/domain";
import type { DeltaMessage, Orderbook, Trade as TradeBody } from "@bursar/protocol";
import type { Timers } from "../../runtime/loops/timers.js";
import { createWakingLoop, untilTick } from "../../runtime/loops/waking-loop.js";
import type { ShownChange } from "./best-levels.js";
import { applyLevelChanges, type Levels } from "./depth-view.js";
import type { MarketDelta } from "./market-store.js";
import type { Trade } from "./trade.js";

/**
 * A copy of a market's levels in the memory of every process, so that reading them costs no query. The process that runs the market
 * applies each change after its commit; all of them poll for changes that they have missed.
 */
export interface MarketView {
  /** Undefined until they were read for the first time. */
  levels: () => Levels | undefined;
  /** What the price of a new order is compared with; undefined until the levels were read. */
  prices: () => MarketPrices | undefined;
  /** Whether it could not be confirmed for so long that it may be out of date. */
  isStale: () => boolean;
  /** Applies a committed change, if it follows the last one. If not, the view polls for what it has missed. */
  advance: (delta: MarketDelta) => void;
  /** Polls soon, because there may be a change. */
  wake: () => void;
  /** Polls for changes now. */
  refresh: () => Promise<void>;
  /** Drops the levels and reads them again, because the database may have gone back to an earlier state. */
  reset: () => void;
  /**
   * Calls the listener with every change from now on, in order and without gaps; with undefined if all levels were dropped or read again.
   */
  listen: (listener: (delta: MarketDelta | undefined) => void) => () => void;
  start: () => void;
  stop: () => Promise<void>;
}

/** How the best levels have changed. */
export type ShownDelta = Omit<MarketDelta, "market" | "changes"> & { changes: readonly ShownChange[] };

/** A market as the stream follows it: its levels in this process's memory, and how they and its trades are presented. */
export interface FollowedMarket {
  name: string;
  view: MarketView;
  presentBook: (levels: Levels, depth: number) => Omit<Orderbook, "stale">;
  presentDelta: (delta: ShownDelta, levels: Levels) => Omit<DeltaMessage, "type" | "channel">;
  presentTrade: (trade: Trade) => TradeBody;
  /** Called while a client follows it, until the returned function is called. */
  follow?: () => () => void;
}

export interface LevelStore {
  readLevels: (market: string) => Promise<{ levels: Levels; band: PriceBand | null }>;
  /** Changes after a sequence, in order. Undefined if they do not lead from it to the book as it is: it must be read again. */
  listDeltas: (market: string, after: number, limit: number) => Promise<MarketDelta[] | undefined>;
}

export interface MarketViewDeps {
  market: Pick<TradedMarket, "name" | "referencePrice" | "definition">;
  store: LevelStore;
  onError: (error: unknown) => void;
  /** Whether other processes can wake this one at the moment. */
  isNotified: () => boolean;
  monotonicMs: () => number;
  timers: Pick<Timers, "after">;
}

const pollEveryMs = 500;
/** While notifications arrive, polling is only for what was lost. */
const idlePollEveryMs = 2000;
const staleAfterMs = 5000;
const deltasMax = 1000;

export function createMarketView({
  market,
  store,
  onError,
  isNotified,
  monotonicMs,
  timers,
}: MarketViewDeps): MarketView {
  const listeners = new Set<(delta: MarketDelta | undefined) => void>();
  let levels: Levels | undefined;
  let centre = market.referencePrice;
  let confirmedMs = Number.NEGATIVE_INFINITY;
  let resets = 0;
  const loop = createWakingLoop({
    step: async () => {
      if (await poll()) return undefined;
      return { pauseMs: untilTick(monotonicMs(), isNotified() ? idlePollEveryMs : pollEveryMs) };
    },
    onError,
    pauseAfterErrorMs: pollEveryMs,
    timers,
  });

  const publish = (delta: MarketDelta | undefined) => {
    for (const listener of listeners) listener(delta);
  };

  function advance(delta: MarketDelta): void {
    if (levels?.sequence !== delta.previousSequence) {
      if (levels === undefined || levels.sequence < delta.sequence) loop.wake();
      return;
    }
    applyLevelChanges(levels, delta.changes);
    levels.sequence = delta.sequence;
    centre = delta.centre ?? centre;
    levels.changedAt = delta.occurredAt;
    confirmedMs = monotonicMs();
    publish(delta);
  }

  /** Returns whether there may be more. */
  async function poll(): Promise<boolean> {
    const polledMs = monotonicMs();
    const resetsBefore = resets;
    const sequenceBefore = levels?.sequence;
    const deltas = levels && (await store.listDeltas(market.name, levels.sequence, deltasMax));
    // What was read before a reset is of no use.
    if (resets !== resetsBefore) return true;
    if (deltas === undefined) {
      const read = await store.readLevels(market.name);
      if (resets !== resetsBefore) return true;
      // Changes that came meanwhile can have led further than what was read. Without such changes, what was read counts.
      if (
        levels === undefined ||
        levels.sequence === sequenceBefore ||
        read.levels.sequence >= levels.sequence
      ) {
        levels = read.levels;
        centre = centreOf(restoreBand(read.band, market.referencePrice));
        publish(undefined);
      }
    } else for (const delta of deltas) advance(delta);
    confirmedMs = Math.max(confirmedMs, polledMs);
    return (deltas?.length ?? 0) === deltasMax;
  }

  return {
    levels: () => levels,
    prices: () => {
      const { priceBandBasisPoints, slippageBasisPoints } = market.definition;
      const range = priceRange(centre, priceBandBasisPoints);
      if (levels === undefined) return undefined;
      const { bids, asks } = levels;
      return { range, bestBid: bids[0]?.price, bestAsk: asks[0]?.price, slippageBasisPoints };
    },
    isStale: () => monotonicMs() - confirmedMs > staleAfterMs,
    advance,
    refresh: async () => void (await poll()),
    reset: () => {
      levels = undefined;
      resets += 1;
      confirmedMs = Number.NEGATIVE_INFINITY;
      publish(undefined);
      loop.wake();
    },
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    start: loop.start,
    wake: loop.wake,
    stop: loop.stop,
  };
}
