import { addToCrc32, crc32AtFirst, finishCrc32 } from "../market/checksum.js";
import type { OpenOrder } from "../market/order.js";
import type { Depth, DepthLevel, LevelChange } from "./book.js";
import { type BookSide, clearChange, takeKeys } from "./book-side.js";
import { type BookState, rowOf, sideOfRow } from "./book-state.js";
import { numberAt } from "./number-index.js";
import { seek, seekBest, seekNext, soughtLevel } from "./price-index.js";
import { idOf, none, ownerOf } from "./rows.js";

/** The best levels of each side, at most `levelsMax`. */
export function readDepth(state: BookState, levelsMax: number): Depth {
  return { bids: bestLevels(state.bids, levelsMax), asks: bestLevels(state.asks, levelsMax) };
}

/**
 * The levels that have changed since the last call: bids, then asks, best first. Applied to the depth of that time they give the
 * current depth.
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
      clearChange(side, level);
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

/** An open order by its number. */
export function findOpenOrder(state: BookState, number: number): OpenOrder | undefined {
  const row = rowOf(state, number);
  return row === none ? undefined : describeOrder(sideOfRow(state, row), row);
}

/** All open orders in the one canonical order: bids, then asks, best price first, and within a price by priority. */
export function listOpenOrders(state: BookState): OpenOrder[] {
  const found: OpenOrder[] = [];
  for (const side of [state.bids, state.asks]) eachRow(side, (row) => found.push(describeOrder(side, row)));
  return found;
}

/** A CRC-32 over all open orders in canonical order, as eight hexadecimal digits. */
export function fingerprintOf(state: BookState): string {
  let crc = crc32AtFirst;
  for (const side of [state.bids, state.asks])
    eachRow(side, (row) => {
      crc = addToCrc32(crc, `${JSON.stringify(Object.values(describeOrder(side, row)))}\n`);
    });
  return finishCrc32(crc).toString(16).padStart(8, "0");
}

function eachRow(side: BookSide, visit: (row: number) => void): void {
  for (let level = seekBest(side.index); level !== none; level = seekNext(side.index)) {
    const { next } = side.rows;
    for (let row = next[level] as number; row !== level; row = next[row] as number) visit(row);
  }
}

function describeOrder({ name, rows, numbers }: BookSide, row: number): OpenOrder {
  return {
    number: numberAt(numbers, rows.slot[row] as number),
    id: idOf(rows, row),
    owner: ownerOf(rows, row),
    side: name,
    price: rows.price[(rows.level[row] as number) >> 1] as number,
    size: rows.size[row >> 1] as number,
    remaining: rows.remaining[row >> 1] as number,
  };
}
