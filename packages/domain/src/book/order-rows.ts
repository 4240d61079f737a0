import { type BookRows, freeRow, takeRow } from "./book-rows.js";
import { type IdIndex, insertRow, removeRow } from "./id-index.js";
import type { OpenOrder } from "./order.js";

/** What a row takes over from an order. */
export type NewOrder = Readonly<Pick<OpenOrder, "id" | "owner" | "side" | "price" | "size">>;

/** The order is not in a queue yet. */
export function addOrderRow(
  rows: BookRows,
  ids: IdIndex,
  order: NewOrder,
  remaining: number,
  hash: number,
): number {
  const row = takeRow(rows);
  rows.texts[row >> 2] = order.id;
  rows.texts[(row >> 2) + 1] = order.owner;
  rows.hash[row] = hash;
  insertRow(ids, rows, row);
  rows.size[row >> 1] = order.size;
  rows.remaining[row >> 1] = remaining;
  return row;
}

/** The row must be out of its queue. */
export function dropOrderRow(rows: BookRows, ids: IdIndex, row: number): void {
  removeRow(ids, rows, row);
  freeRow(rows, row);
}

export function idOf({ texts }: BookRows, row: number): string {
  return texts[row >> 2] as string;
}

export function ownerOf({ texts }: BookRows, row: number): string {
  return texts[(row >> 2) + 1] as string;
}
