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

/** With more changes than this the list is merged as a whole: each single change would move the rest of it. */
const changesOneByOneMax = 32;

/** Brings levels up to date. */
export function applyLevelChanges(levels: Levels, changes: readonly LevelChangeRow[]): void {
  levels.bids = changeSide(
    levels.bids,
    changes.filter(([side]) => side === "buy"),
    -1,
  );
  levels.asks = changeSide(
    levels.asks,
    changes.filter(([side]) => side === "sell"),
    1,
  );
}

/** The sign makes a price a key that is smaller if the price is better. */
function changeSide(list: ViewLevel[], changes: readonly LevelChangeRow[], sign: 1 | -1): ViewLevel[] {
  if (changes.length > changesOneByOneMax) return merge(list, changes, sign);
  for (const [, price, size] of changes) change(list, price, size, sign);
  return list;
}

/** Finding a level is a binary search; inserting or removing one moves the rest, which is cheap for a few. */
function change(list: ViewLevel[], price: number, size: number, sign: 1 | -1): void {
  const index = findPlace(list, sign * price, sign);
  const isThere = list[index]?.price === price;
  if (size === 0) {
    if (isThere) list.splice(index, 1);
  } else if (isThere) (list[index] as ViewLevel).size = size;
  else list.splice(index, 0, { price, size });
}

function merge(list: readonly ViewLevel[], changes: readonly LevelChangeRow[], sign: 1 | -1): ViewLevel[] {
  const merged: ViewLevel[] = [];
  let at = 0;
  for (const [, price, size] of changes.toSorted((a, b) => sign * (a[1] - b[1]))) {
    const place = findPlace(list, sign * price, sign);
    while (at < place) merged.push(list[at++] as ViewLevel);
    if (list[at]?.price === price) at += 1;
    if (size > 0) merged.push({ price, size });
  }
  while (at < list.length) merged.push(list[at++] as ViewLevel);
  return merged;
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
