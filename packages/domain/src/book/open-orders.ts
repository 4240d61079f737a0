import type { BookSide } from "./book-side.js";
import { type BookState, sideOfRow } from "./book-state.js";
import { addToCrc32, crc32AtFirst, finishCrc32 } from "./crc32.js";
import type { OpenOrder } from "./order.js";
import { none, rowOf } from "./order-table.js";
import { seekBest, seekNext } from "./price-index.js";

/** An open order by its id. */
export function findOpenOrder(state: BookState, id: string): OpenOrder | undefined {
  const row = rowOf(state.orders, id);
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
    for (let row = side.levels.head[level] as number; row !== none; row = side.orders.next[row] as number)
      visit(row);
  }
}

function describeOrder({ name, orders, levels }: BookSide, row: number): OpenOrder {
  return {
    id: orders.ids[row] as string,
    owner: orders.owners[row] as string,
    side: name,
    price: levels.price[orders.level[row] as number] as number,
    size: orders.size[row] as number,
    remaining: orders.remaining[row] as number,
  };
}
