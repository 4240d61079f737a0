import { addToSide, type BookSide, createBookSide } from "./book-side.js";
import { createLevelTable } from "./level-table.js";
import type { Side } from "./order.js";
import { addOrderRow, createOrderTable, type NewOrder, none, type OrderTable, rowOf } from "./order-table.js";

/** What a book is inside: two sides over one table of orders. */
export interface BookState {
  readonly orders: OrderTable;
  readonly bids: BookSide;
  readonly asks: BookSide;
  /** At most this many orders rest. */
  readonly ordersMax: number;
}

export function createBookState(ordersMax: number): BookState {
  const orders = createOrderTable();
  const levels = createLevelTable();
  return {
    orders,
    bids: createBookSide("buy", orders, levels),
    asks: createBookSide("sell", orders, levels),
    ordersMax,
  };
}

function ownSide(state: BookState, side: Side): BookSide {
  return side === "buy" ? state.bids : state.asks;
}

export function otherSide(state: BookState, side: Side): BookSide {
  return side === "buy" ? state.asks : state.bids;
}

/** The side on which an open order rests. */
export function sideOfRow(state: BookState, row: number): BookSide {
  return state.orders.isBuy[row] === 1 ? state.bids : state.asks;
}

/** Puts an order, or what is left of it, at the end of its queue; false where the book holds as much as it may. */
export function rest(state: BookState, order: NewOrder, remaining: number, hash: number): boolean {
  const side = ownSide(state, order.side);
  if (state.orders.index.count >= state.ordersMax) return false;
  if (side.lots + remaining > Number.MAX_SAFE_INTEGER) return false;
  addToSide(side, addOrderRow(state.orders, order, remaining, hash), order.price);
  return true;
}

/** Ids are given out by whoever keeps the orders; one that comes twice is an error of the program, not a wish of a client. */
export function assertNewId(state: BookState, id: string, hash: number): void {
  if (rowOf(state.orders, id, hash) !== none) throw new Error(`order ${id} is in the book already`);
}

/** Ticks and lots are checked where texts become numbers; here a fraction or an unsafe number is a broken invariant. */
export function assertWhole(what: "price" | "size" | "remaining size", value: number): void {
  if (!Number.isSafeInteger(value) || value <= 0)
    throw new Error(`a ${what} is a positive safe integer, not ${value}`);
}
