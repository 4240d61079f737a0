import { none } from "./book-rows.js";
import { type BookSide, forgetChange } from "./book-side.js";
import type { BookState } from "./book-state.js";
import { takeKeys } from "./changed-keys.js";
import type { Side } from "./order.js";
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
  return takeKeys(side.changed)
    .reverse()
    .map((key) => {
      if (!seek(side.index, key)) return { side: side.name, price: side.sign * key, size: 0, orderCount: 0 };
      const level = soughtLevel(side.index);
      forgetChange(side, level);
      return { side: side.name, ...describeLevel(side, level) };
    });
}

function describeLevel({ rows }: BookSide, level: number): DepthLevel {
  return {
    price: rows.price[level >> 1] as number,
    size: rows.lots[level >> 1] as number,
    orderCount: rows.orderCount[level] as number,
  };
}
