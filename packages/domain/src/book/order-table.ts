import { createIdIndex, findRow, hashId, type IdIndex, insertRow, removeRow } from "./id-index.js";
import type { OpenOrder } from "./order.js";

/** What a row takes over from an order. */
export type NewOrder = Readonly<Pick<OpenOrder, "id" | "owner" | "side" | "price" | "size">>;

/**
 * The resting orders, as columns of typed arrays: an order is a row number, and its neighbours in the queue of its level are row
 * numbers too. A million orders are then a handful of objects for the garbage collector instead of a million that point at each
 * other, and rows of cancelled orders are used again without an allocation. Fields of an order side by side in one array were tried
 * and no faster.
 */
export interface OrderTable {
  index: IdIndex;
  /** Of a free row, those of the order that was there last: emptying them would cost a write to memory that nothing else needs. */
  ids: string[];
  owners: string[];
  /** Of the id, so that a row leaves the index without a look at its text. */
  hash: Int32Array;
  isBuy: Uint8Array;
  level: Int32Array;
  /** In the queue of the level; of a free row, the next free row. */
  next: Int32Array;
  previous: Int32Array;
  /** The whole size, and what is not filled of it. */
  size: Float64Array;
  remaining: Float64Array;
  firstFree: number;
}

/** Where a row number is expected: there is none. */
export const none = -1;

const rowsAtFirst = 1024;

export function createOrderTable(): OrderTable {
  const table: OrderTable = {
    index: createIdIndex(),
    ids: [],
    owners: [],
    hash: new Int32Array(0),
    isBuy: new Uint8Array(0),
    level: new Int32Array(0),
    next: new Int32Array(0),
    previous: new Int32Array(0),
    size: new Float64Array(0),
    remaining: new Float64Array(0),
    firstFree: none,
  };
  growTo(table, rowsAtFirst);
  return table;
}

export function addOrderRow(table: OrderTable, order: NewOrder, remaining: number, hash: number): number {
  if (table.firstFree === none) growTo(table, table.level.length * 2);
  const row = table.firstFree;
  table.firstFree = table.next[row] as number;
  insertRow(table.index, hash, row);
  table.hash[row] = hash;
  table.ids[row] = order.id;
  table.owners[row] = order.owner;
  table.isBuy[row] = order.side === "buy" ? 1 : 0;
  table.size[row] = order.size;
  table.remaining[row] = remaining;
  return row;
}

/** The row of an open order, or `none`. */
export function rowOf(table: OrderTable, id: string, hash = hashId(id)): number {
  return findRow(table.index, table.ids, id, hash);
}

/** The row must be out of its queue. */
export function dropOrderRow(table: OrderTable, row: number): void {
  removeRow(table.index, table.hash[row] as number, row);
  table.next[row] = table.firstFree;
  table.firstFree = row;
}

function growTo(table: OrderTable, rows: number): void {
  const before = table.level.length;
  const larger = <T extends Int32Array | Float64Array | Uint8Array>(column: T, copy: T): T => {
    copy.set(column);
    return copy;
  };
  table.hash = larger(table.hash, new Int32Array(rows));
  table.isBuy = larger(table.isBuy, new Uint8Array(rows));
  table.level = larger(table.level, new Int32Array(rows));
  table.next = larger(table.next, new Int32Array(rows));
  table.previous = larger(table.previous, new Int32Array(rows));
  table.size = larger(table.size, new Float64Array(rows));
  table.remaining = larger(table.remaining, new Float64Array(rows));
  for (let row = before; row < rows; row++) {
    table.ids.push("");
    table.owners.push("");
    table.next[row] = row + 1 < rows ? row + 1 : none;
  }
  table.firstFree = before;
}
