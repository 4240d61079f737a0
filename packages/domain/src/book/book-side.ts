import { type BookRows, freeLevelRow, none } from "./book-rows.js";
import { type ChangedKeys, createChangedKeys, noteKey } from "./changed-keys.js";
import { addLevelRow, joinQueue, leaveQueue, takeLots } from "./level-rows.js";
import type { NumberIndex } from "./number-index.js";
import type { Side } from "./order.js";
import { dropOrderRow } from "./order-rows.js";
import {
  createPriceIndex,
  insertSought,
  type PriceIndex,
  removeSought,
  seek,
  seekBest,
  soughtLevel,
} from "./price-index.js";

/** The bids or the asks: levels in the order of their prices, each a queue of orders, and the sums that are asked for often. */
export interface BookSide {
  readonly name: Side;
  /** Makes a price a key of the index, in which larger is better: 1 for bids, -1 for asks. */
  readonly sign: 1 | -1;
  /** What the levels of this side are marked with. */
  readonly mark: number;
  readonly index: PriceIndex;
  readonly rows: BookRows;
  readonly numbers: NumberIndex;
  /** The row of the best level. */
  best: number;
  /** All that rests here. It stays a safe integer, so every sum of a part of it does. */
  lots: number;
  /** The levels that have changed since somebody last asked. */
  readonly changed: ChangedKeys;
}

/** The marks of a level: whether it is one of bids, and whether it is among the changed ones already. */
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

/** Whether an order with this limit, from the other side, takes what rests at the best price here. */
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
  noteChange(side, level);
}

/** Takes an order out of the book, and its level where it was the last. */
export function removeFromSide(side: BookSide, row: number): void {
  const { rows } = side;
  const level = rows.level[row] as number;
  side.lots -= rows.remaining[row >> 1] as number;
  leaveQueue(rows, level, row);
  dropOrderRow(rows, side.numbers, row);
  noteChange(side, level);
  if (rows.orderCount[level] === 0) dropLevel(side, level);
}

/** Makes an order smaller where it stands. */
export function reduceInSide(side: BookSide, row: number, lots: number): void {
  takeLots(side.rows, row, lots);
  side.lots -= lots;
  noteChange(side, side.rows.level[row] as number);
}

function levelFor(side: BookSide, price: number): number {
  const { index, rows, sign } = side;
  const key = sign * price;
  if (seek(index, key)) return soughtLevel(index);
  const level = addLevelRow(rows, price, side.mark | (side.changed.gone.has(key) ? changedMark : 0));
  insertSought(index, key, level);
  if (side.best === none || key > sign * (rows.price[side.best >> 1] as number)) side.best = level;
  return level;
}

function dropLevel(side: BookSide, level: number): void {
  const key = side.sign * (side.rows.price[level >> 1] as number);
  if (!seek(side.index, key)) throw new Error(`the ${side.name} side has lost a level`);
  removeSought(side.index);
  side.changed.gone.add(key);
  freeLevelRow(side.rows, level);
  if (level === side.best) side.best = seekBest(side.index);
}

/** Most changes come to levels that are noted already. */
function noteChange({ rows, sign, changed }: BookSide, level: number): void {
  const marks = rows.marks[level] as number;
  if ((marks & changedMark) !== 0) return;
  rows.marks[level] = marks | changedMark;
  noteKey(changed, sign * (rows.price[level >> 1] as number));
}

/** The level counts as unchanged until `noteChange` comes to it again. */
export function forgetChange({ rows }: BookSide, level: number): void {
  rows.marks[level] = (rows.marks[level] as number) & ~changedMark;
}
