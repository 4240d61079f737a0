import { none } from "./book-rows.js";
import type { BookSide } from "./book-side.js";
import { type BookState, rowOf, sideOfRow } from "./book-state.js";
import { addToCrc32, crc32AtFirst, finishCrc32 } from "./crc32.js";
import { numberAt } from "./number-index.js";
import type { OpenOrder } from "./order.js";
import { idOf, ownerOf } from "./order-rows.js";
import { seekBest, seekNext } from "./price-index.js";

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

/** Eight hexadecimal digits over all open orders in canonical order: books that differ have different ones, but for chance. */
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
