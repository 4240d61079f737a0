import { type BookRows, createBookRows, none } from "./book-rows.js";
import { addToSide, type BookSide, buyMark, createBookSide } from "./book-side.js";
import { createIdIndex, findRow, findYoungRow, type IdIndex } from "./id-index.js";
import { hashId } from "./id-table.js";
import type { Side } from "./order.js";
import { addOrderRow, type NewOrder } from "./order-rows.js";

/** What a book is inside: two sides over one set of rows. */
export interface BookState {
  readonly rows: BookRows;
  readonly ids: IdIndex;
  readonly bids: BookSide;
  readonly asks: BookSide;
  /** At most this many orders rest. */
  readonly ordersMax: number;
}

export function createBookState(ordersMax: number): BookState {
  const rows = createBookRows();
  const ids = createIdIndex();
  const bids = createBookSide("buy", rows, ids);
  const asks = createBookSide("sell", rows, ids);
  return { rows, ids, bids, asks, ordersMax };
}

function ownSide(state: BookState, side: Side): BookSide {
  return side === "buy" ? state.bids : state.asks;
}

export function otherSide(state: BookState, side: Side): BookSide {
  return side === "buy" ? state.asks : state.bids;
}

/** The side on which an open order rests. */
export function sideOfRow({ rows, bids, asks }: BookState, row: number): BookSide {
  return ((rows.marks[rows.level[row] as number] as number) & buyMark) === 0 ? asks : bids;
}

/** The row of an open order, or `none`. */
export function rowOf({ rows, ids }: BookState, id: string): number {
  return findRow(ids, rows, id, hashId(id));
}

/** Puts an order, or what is left of it, at the end of its queue; false where the book holds as much as it may. */
export function rest(state: BookState, order: NewOrder, remaining: number, hash: number): boolean {
  const side = ownSide(state, order.side);
  if (state.ids.count >= state.ordersMax) return false;
  if (side.lots + remaining > Number.MAX_SAFE_INTEGER) return false;
  addToSide(side, addOrderRow(state.rows, state.ids, order, remaining, hash), order.price);
  return true;
}

/**
 * Ids are given out by whoever keeps the orders; one that comes twice is an error of the program, not a wish of a client. Where the
 * first has been open for long, this does not see it: the index does, later.
 */
export function assertNewId(state: BookState, id: string, hash: number): void {
  if (findYoungRow(state.ids, state.rows, id, hash) !== none)
    throw new Error(`order ${id} is in the book already`);
}

/** Ticks and lots are checked where texts become numbers; here a fraction or an unsafe number is a broken invariant. */
export function assertWhole(what: "price" | "size" | "remaining size", value: number): void {
  if (!Number.isSafeInteger(value) || value <= 0)
    throw new Error(`a ${what} is a positive safe integer, not ${value}`);
}
