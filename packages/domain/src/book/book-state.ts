import type { OpenOrder, Side } from "../market/order.js";
import { addToSide, type BookSide, buyMark, createBookSide } from "./book-side.js";
import { createNumberIndex, findRow, insertRow, type NumberIndex } from "./number-index.js";
import { type BookRows, createBookRows, takeOrderRow } from "./rows.js";

/** The state of the fast book: two sides over one set of rows. */
export interface BookState {
  readonly rows: BookRows;
  readonly numbers: NumberIndex;
  /** The highest order number so far. */
  lastNumber: number;
  readonly bids: BookSide;
  readonly asks: BookSide;
  /** At most this many orders rest. */
  readonly ordersMax: number;
  /** An incoming order matches at most this many resting orders. */
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

/** Puts an order, or its remaining part, at the end of its queue. False if the book is full. */
export function rest(state: BookState, order: NewOrder, remaining: number): boolean {
  const side = ownSide(state, order.side);
  if (state.numbers.count >= state.ordersMax) return false;
  if (side.lots + remaining > Number.MAX_SAFE_INTEGER) return false;
  addToSide(side, addOrderRow(state.rows, state.numbers, order, remaining), order.price);
  return true;
}

/** The service assigns numbers, so one that repeats is a bug and not a client's mistake. */
export function takeNumber(state: BookState, number: number): void {
  if (number <= state.lastNumber)
    throw new Error(`order number ${number} does not come after ${state.lastNumber}`);
  state.lastNumber = number;
}

/** Ticks and lots are validated when they are parsed; here a fraction or an unsafe number is a broken invariant. */
export function assertWhole(what: "number" | "price" | "size" | "remaining size", value: number): void {
  if (!Number.isSafeInteger(value) || value <= 0)
    throw new Error(`a ${what} is a positive safe integer, not ${value}`);
}

/** The fields of an order that its row stores. */
type NewOrder = Readonly<Pick<OpenOrder, "number" | "id" | "owner" | "side" | "price" | "size">>;

/** Stores an order; it is not in a queue yet. */
function addOrderRow(rows: BookRows, numbers: NumberIndex, order: NewOrder, remaining: number): number {
  const row = takeOrderRow(rows);
  rows.texts[row >> 2] = order.id;
  rows.texts[(row >> 2) + 1] = order.owner;
  rows.slot[row] = insertRow(numbers, order.number, row);
  rows.size[row >> 1] = order.size;
  rows.remaining[row >> 1] = remaining;
  return row;
}
