import { type BookRows, freeOrderRow, takeOrderRow } from "./book-rows.js";
import { insertRow, type NumberIndex, removeSlot } from "./number-index.js";
import type { OpenOrder } from "./order.js";

/** What a row takes over from an order. */
export type NewOrder = Readonly<Pick<OpenOrder, "number" | "id" | "owner" | "side" | "price" | "size">>;

/** The order is not in a queue yet. */
export function addOrderRow(
  rows: BookRows,
  numbers: NumberIndex,
  order: NewOrder,
  remaining: number,
): number {
  const row = takeOrderRow(rows);
  rows.texts[row >> 2] = order.id;
  rows.texts[(row >> 2) + 1] = order.owner;
  rows.slot[row] = insertRow(numbers, order.number, row);
  rows.size[row >> 1] = order.size;
  rows.remaining[row >> 1] = remaining;
  return row;
}

/** The row must be out of its queue. */
export function dropOrderRow(rows: BookRows, numbers: NumberIndex, row: number): void {
  removeSlot(numbers, rows.slot[row] as number);
  freeOrderRow(rows, row);
}

export function idOf({ texts }: BookRows, row: number): string {
  return texts[row >> 2] as string;
}

export function ownerOf({ texts }: BookRows, row: number): string {
  return texts[(row >> 2) + 1] as string;
}
