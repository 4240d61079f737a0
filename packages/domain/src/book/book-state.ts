import { type BookRows, createBookRows } from "./book-rows.js";
import { addToSide, type BookSide, buyMark, createBookSide } from "./book-side.js";
import { createNumberIndex, findRow, type NumberIndex } from "./number-index.js";
import type { Side } from "./order.js";
import { addOrderRow, type NewOrder } from "./order-rows.js";

/** What a book is inside: two sides over one set of rows. */
export interface BookState {
  readonly rows: BookRows;
  readonly numbers: NumberIndex;
  /** The highest number that an order has come with. */
  lastNumber: number;
  readonly bids: BookSide;
  readonly asks: BookSide;
  /** At most this many orders rest. */
  readonly ordersMax: number;
  /** An incoming order meets at most this many resting ones. */
  readonly makersMax: number;
}

export function createBookState(ordersMax: number, makersMax: number): BookState {
  const rows = createBookRows();
  const numbers = createNumberIndex();
  const bids = createBookSide("buy", rows, numbers);
  const asks = createBookSide("sell", rows, numbers);
  return { rows, numbers, lastNumber: 0, bids, asks, ordersMax, makersMax };
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
export function rowOf({ numbers }: BookState, number: number): number {
  return findRow(numbers, number);
}

/** Puts an order, or what is left of it, at the end of its queue; false where the book holds as much as it may. */
export function rest(state: BookState, order: NewOrder, remaining: number): boolean {
  const side = ownSide(state, order.side);
  if (state.numbers.count >= state.ordersMax) return false;
  if (side.lots + remaining > Number.MAX_SAFE_INTEGER) return false;
  addToSide(side, addOrderRow(state.rows, state.numbers, order, remaining), order.price);
  return true;
}

/** Numbers are given out by whoever keeps the orders; one that comes again is an error of the program, not a wish of a client. */
export function takeNumber(state: BookState, number: number): void {
  if (number <= state.lastNumber)
    throw new Error(`order number ${number} does not come after ${state.lastNumber}`);
  state.lastNumber = number;
}

/** Ticks and lots are checked where texts become numbers; here a fraction or an unsafe number is a broken invariant. */
export function assertWhole(what: "number" | "price" | "size" | "remaining size", value: number): void {
  if (!Number.isSafeInteger(value) || value <= 0)
    throw new Error(`a ${what} is a positive safe integer, not ${value}`);
}
