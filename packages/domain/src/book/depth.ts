import type { BookSide } from "./book-side.js";
import type { BookState } from "./book-state.js";
import type { Side } from "./order.js";
import { none } from "./order-table.js";
import { seek, seekBest, seekNext, soughtLevel } from "./price-index.js";

/** A price, what rests at it and in how many orders. */
export interface DepthLevel {
  price: number;
  size: number;
  orderCount: number;
}

/** The levels of both sides, best first. */
export interface Depth {
  bids: DepthLevel[];
  asks: DepthLevel[];
}

/** What a level is now; one of size 0 is gone. */
export interface LevelChange extends DepthLevel {
  side: Side;
}

/** The best levels of each side, at most so many. */
export function readDepth(state: BookState, levelsMax: number): Depth {
  return { bids: bestLevels(state.bids, levelsMax), asks: bestLevels(state.asks, levelsMax) };
}

/**
 * The levels that have changed since the last call: bids, then asks, best first. A reader that applies them to the depth of that
 * time has the depth of now.
 */
export function takeLevelChanges(state: BookState): LevelChange[] {
  return [...takeChangesOfSide(state.bids), ...takeChangesOfSide(state.asks)];
}

function bestLevels(side: BookSide, levelsMax: number): DepthLevel[] {
  const found: DepthLevel[] = [];
  let level = levelsMax > 0 ? seekBest(side.index) : none;
  while (level !== none) {
    found.push(describeLevel(side, level));
    level = found.length < levelsMax ? seekNext(side.index) : none;
  }
  return found;
}

function takeChangesOfSide(side: BookSide): LevelChange[] {
  const { levels, sign, changedPrices } = side;
  const prices = [...changedPrices].sort((a, b) => sign * (b - a));
  changedPrices.clear();
  return prices.map((price) => {
    if (!seek(side.index, sign * price)) return { side: side.name, price, size: 0, orderCount: 0 };
    const level = soughtLevel(side.index);
    levels.isChanged[level] = 0;
    return { side: side.name, ...describeLevel(side, level) };
  });
}

function describeLevel({ levels }: BookSide, level: number): DepthLevel {
  return {
    price: levels.price[level] as number,
    size: levels.lots[level] as number,
    orderCount: levels.orderCount[level] as number,
  };
}
