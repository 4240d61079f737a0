import type { LevelChangeRow } from "./market-store.js";

/** A price and what rests at it, in ticks and lots. */
export interface ViewLevel {
  price: number;
  size: number;
}

/** The levels of a book as of a sequence. */
export interface Levels {
  sequence: number;
  changedAt: Date;
  /** Best first. */
  bids: ViewLevel[];
  asks: ViewLevel[];
}

/** Brings levels up to date. Finding a level is a binary search; putting one in or out moves the rest, which is cheap in memory. */
export function applyLevelChanges(levels: Levels, changes: readonly LevelChangeRow[]): void {
  for (const [side, price, size] of changes) {
    const list = side === "buy" ? levels.bids : levels.asks;
    const sign = side === "buy" ? -1 : 1;
    const index = findPlace(list, sign * price, sign);
    const isThere = list[index]?.price === price;
    if (size === 0) {
      if (isThere) list.splice(index, 1);
    } else if (isThere) (list[index] as ViewLevel).size = size;
    else list.splice(index, 0, { price, size });
  }
}

/** The first place whose level is not better. */
function findPlace(list: readonly ViewLevel[], key: number, sign: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sign * (list[middle] as ViewLevel).price < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
