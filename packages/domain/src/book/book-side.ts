import type { Side } from "../market/order.js";
import { type NumberIndex, removeSlot } from "./number-index.js";
import {
  createPriceIndex,
  insertSought,
  type PriceIndex,
  removeSought,
  seek,
  seekBest,
  soughtLevel,
} from "./price-index.js";
import {
  addLevelRow,
  type BookRows,
  freeLevelRow,
  freeOrderRow,
  joinQueue,
  leaveQueue,
  none,
  takeLots,
} from "./rows.js";

/** The bids or the asks: levels sorted by price, each a queue of orders, and the totals that are needed often. */
export interface BookSide {
  readonly name: Side;
  /** Turns a price into a key of the index, in which larger is better: 1 for bids, -1 for asks. */
  readonly sign: 1 | -1;
  /** The mark of this side's levels. */
  readonly mark: number;
  readonly index: PriceIndex;
  readonly rows: BookRows;
  readonly numbers: NumberIndex;
  /** The row of the best level. */
  best: number;
  /** The total size of this side. It stays a safe integer, so every partial sum does. */
  lots: number;
  /** The levels that have changed since `takeLevelChanges` was last called. */
  readonly changed: ChangedKeys;
}

/** The marks of a level: whether it is a bid, and whether it is already recorded as changed. */
export const buyMark = 1;
const changedMark = 2;

export function createBookSide(name: Side, rows: BookRows, numbers: NumberIndex): BookSide {
  return {
    name,
    sign: name === "buy" ? 1 : -1,
    mark: name === "buy" ? buyMark : 0,
    index: createPriceIndex(),
    rows,
    numbers,
    best: none,
    lots: 0,
    changed: createChangedKeys(),
  };
}

/** Whether an order of the other side with this limit price matches the best price here. */
export function isBestWithin(side: BookSide, limit: number | undefined): boolean {
  if (side.best === none) return false;
  if (limit === undefined) return true;
  return side.sign * (side.rows.price[side.best >> 1] as number) >= side.sign * limit;
}

/** Puts an order at the end of the queue of its price. */
export function addToSide(side: BookSide, row: number, price: number): void {
  const level = levelFor(side, price);
  joinQueue(side.rows, level, row);
  side.lots += side.rows.remaining[row >> 1] as number;
  recordChange(side, level);
}

/** Removes an order, and its level if that is now empty. */
export function removeFromSide(side: BookSide, row: number): void {
  const { rows } = side;
  const level = rows.level[row] as number;
  side.lots -= rows.remaining[row >> 1] as number;
  leaveQueue(rows, level, row);
  dropOrderRow(rows, side.numbers, row);
  recordChange(side, level);
  if (rows.orderCount[level] === 0) dropLevel(side, level);
}

/** Reduces an order without changing its place in the queue. */
export function reduceInSide(side: BookSide, row: number, lots: number): void {
  takeLots(side.rows, row, lots);
  side.lots -= lots;
  recordChange(side, side.rows.level[row] as number);
}

function levelFor(side: BookSide, price: number): number {
  const { index, rows, sign } = side;
  const key = sign * price;
  if (seek(index, key)) return soughtLevel(index);
  const level = addLevelRow(rows, price, side.mark | (side.changed.removed.has(key) ? changedMark : 0));
  insertSought(index, key, level);
  if (side.best === none || key > sign * (rows.price[side.best >> 1] as number)) side.best = level;
  return level;
}

function dropLevel(side: BookSide, level: number): void {
  const key = side.sign * (side.rows.price[level >> 1] as number);
  if (!seek(side.index, key)) throw new Error(`the ${side.name} side has lost a level`);
  removeSought(side.index);
  side.changed.removed.add(key);
  freeLevelRow(side.rows, level);
  if (level === side.best) side.best = seekBest(side.index);
}

/** Most changes hit levels that are already recorded. */
function recordChange({ rows, sign, changed }: BookSide, level: number): void {
  const marks = rows.marks[level] as number;
  if ((marks & changedMark) !== 0) return;
  rows.marks[level] = marks | changedMark;
  addKey(changed, sign * (rows.price[level >> 1] as number));
}

/** The level counts as unchanged until it changes again. */
export function clearChange({ rows }: BookSide, level: number): void {
  rows.marks[level] = (rows.marks[level] as number) & ~changedMark;
}

/** The keys of changed levels, each once. */
export interface ChangedKeys {
  keys: Float64Array;
  count: number;
  /** Keys of levels that were removed since. If such a level returns, its key is already in `keys`. */
  readonly removed: Set<number>;
}

const keysAtFirst = 256;

export function createChangedKeys(): ChangedKeys {
  return { keys: new Float64Array(keysAtFirst), count: 0, removed: new Set() };
}

/** Adds a key that is not in the list yet. */
export function addKey(changed: ChangedKeys, key: number): void {
  if (changed.count === changed.keys.length) grow(changed);
  changed.keys[changed.count] = key;
  changed.count += 1;
}

/** Returns the keys in ascending order and clears the list. */
export function takeKeys(changed: ChangedKeys): number[] {
  const keys = Array.from(changed.keys.subarray(0, changed.count).sort());
  changed.count = 0;
  changed.removed.clear();
  return keys;
}

function grow(changed: ChangedKeys): void {
  const larger = new Float64Array(changed.keys.length * 2);
  larger.set(changed.keys);
  changed.keys = larger;
}

/** Frees the row of an order that has left its queue. */
function dropOrderRow(rows: BookRows, numbers: NumberIndex, row: number): void {
  removeSlot(numbers, rows.slot[row] as number);
  freeOrderRow(rows, row);
}
