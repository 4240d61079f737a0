import { checksumDepth, formatPrice, formatSize, type Side, type TradedMarket } from "@bursar/domain";
import type { DeltaMessage, Orderbook } from "@bursar/protocol";
import type { Levels, ViewLevel } from "./depth-view.js";
import type { ShownDelta } from "./market-view.js";

/** The orders of a book come from the clients of this service. */
const source = "bursar";
/** The checksum covers this many levels of each side. */
const checkedLevels = 10;

type Shown = [price: string, size: string];

/** The best levels of a book, as it is published. */
export function presentBook(market: TradedMarket, levels: Levels, depth: number): Omit<Orderbook, "stale"> {
  const best = Math.max(depth, checkedLevels);
  const bids = show(market, levels.bids, best);
  const asks = show(market, levels.asks, best);
  return {
    market: market.name,
    sequence: levels.sequence,
    as_of: levels.changedAt.toISOString(),
    bids: bids.slice(0, depth),
    asks: asks.slice(0, depth),
    checksum: checksumDepth(asks, bids),
    source,
  };
}

/** A change of a book, with the checksum of the levels that it has led to. */
export function presentDelta(
  market: TradedMarket,
  { sequence, previousSequence, changes, occurredAt }: ShownDelta,
  levels: Levels,
): Omit<DeltaMessage, "type" | "channel"> {
  const changed = (wanted: Side): Shown[] =>
    changes.flatMap(([side, price, size]) =>
      side === wanted
        ? [[formatPrice(price, market.steps), size === 0 ? "0" : formatSize(size, market.steps)]]
        : [],
    );
  return {
    sequence,
    previous_sequence: previousSequence,
    as_of: occurredAt.toISOString(),
    bids: changed("buy"),
    asks: changed("sell"),
    checksum: checksumDepth(
      show(market, levels.asks, checkedLevels),
      show(market, levels.bids, checkedLevels),
    ),
  };
}

function show({ steps }: TradedMarket, levels: readonly ViewLevel[], depth: number): Shown[] {
  return levels
    .slice(0, depth)
    .map(({ price, size }) => [formatPrice(price, steps), formatSize(size, steps)]);
}
