import {
  addLevelRow,
  dropLevelRow,
  joinQueue,
  type LevelTable,
  leaveQueue,
  takeLots,
} from "./level-table.js";
import type { Side } from "./order.js";
import { dropOrderRow, none, type OrderTable } from "./order-table.js";
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
  readonly index: PriceIndex;
  readonly orders: OrderTable;
  readonly levels: LevelTable;
  /** The row of the best level. */
  best: number;
  /** All that rests here. It stays a safe integer, so every sum of a part of it does. */
  lots: number;
  /** The prices of levels that have changed since somebody last asked. */
  readonly changedPrices: Set<number>;
}

export function createBookSide(name: Side, orders: OrderTable, levels: LevelTable): BookSide {
  return {
    name,
    sign: name === "buy" ? 1 : -1,
    index: createPriceIndex(),
    orders,
    levels,
    best: none,
    lots: 0,
    changedPrices: new Set(),
  };
}

/** Whether an order with this limit, from the other side, takes what rests at the best price here. */
export function isBestWithin(side: BookSide, limit: number | undefined): boolean {
  if (side.best === none) return false;
  if (limit === undefined) return true;
  return side.sign * (side.levels.price[side.best] as number) >= side.sign * limit;
}

/** Puts an order at the end of the queue of its price. */
export function addToSide(side: BookSide, row: number, price: number): void {
  const level = levelFor(side, price);
  joinQueue(side.levels, side.orders, level, row);
  side.lots += side.orders.remaining[row] as number;
  noteChange(side, level);
}

/** Takes an order out of the book, and its level where it was the last. */
export function removeFromSide(side: BookSide, row: number): void {
  const { orders, levels } = side;
  const level = orders.level[row] as number;
  side.lots -= orders.remaining[row] as number;
  leaveQueue(levels, orders, row);
  dropOrderRow(orders, row);
  noteChange(side, level);
  if (levels.orderCount[level] === 0) dropLevel(side, level);
}

/** Makes an order smaller where it stands. */
export function reduceInSide(side: BookSide, row: number, lots: number): void {
  takeLots(side.levels, side.orders, row, lots);
  side.lots -= lots;
  noteChange(side, side.orders.level[row] as number);
}

function levelFor(side: BookSide, price: number): number {
  const { index, levels } = side;
  const key = side.sign * price;
  if (seek(index, key)) return soughtLevel(index);
  const level = addLevelRow(levels, price);
  insertSought(index, key, level);
  if (side.best === none || key > side.sign * (levels.price[side.best] as number)) side.best = level;
  return level;
}

function dropLevel(side: BookSide, level: number): void {
  if (!seek(side.index, side.sign * (side.levels.price[level] as number)))
    throw new Error(`the ${side.name} side has lost a level`);
  removeSought(side.index);
  dropLevelRow(side.levels, level);
  if (level === side.best) side.best = seekBest(side.index);
}

/** The set is asked once a level, not once a change: most changes come to levels that are in it. */
function noteChange(side: BookSide, level: number): void {
  if (side.levels.isChanged[level] === 1) return;
  side.levels.isChanged[level] = 1;
  side.changedPrices.add(side.levels.price[level] as number);
}
