import { isBestWithin } from "./book-side.js";
import { assertWhole, type BookState, createBookState, otherSide, rest } from "./book-state.js";
import { amendOrder, cancelOrder } from "./changing.js";
import type { BookCommand } from "./commands.js";
import { type Depth, type LevelChange, readDepth, takeLevelChanges } from "./depth.js";
import type { Effect } from "./effects.js";
import { findOpenOrder, fingerprintOf, listOpenOrders } from "./open-orders.js";
import type { OpenOrder } from "./order.js";
import { placeLimit, placeMarket } from "./placing.js";

/**
 * An order book with price-time priority, in memory. It is changed by `apply` alone, decides nothing by clock or chance, and holds
 * nothing but its open orders. So a caller can apply a batch, write the effects in one SQL transaction and show them after its
 * commit; where the commit fails, it throws the book away and makes it anew of the orders that are open in the database.
 */
export interface Book {
  /** Applies one command and appends what it did to `effects`. */
  apply: (command: BookCommand, effects: Effect[]) => void;
  find: (number: number) => OpenOrder | undefined;
  /** The best levels of each side, at most so many. */
  depth: (levelsMax: number) => Depth;
  /** The levels that have changed since the last call. */
  takeLevelChanges: () => LevelChange[];
  /** Bids, then asks, best price first, and within a price by priority. */
  openOrders: () => OpenOrder[];
  /** The same for two books with the same open orders in the same order of priority. */
  fingerprint: () => string;
  orderCount: () => number;
}

export interface BookOptions {
  /** At most this many orders rest; what more would rest is cancelled as `book_full`. */
  ordersMax?: number;
  /** An incoming order meets at most this many resting ones; what is left of it then is cancelled as `match_limit`. */
  makersMax?: number;
}

const ordersMaxDefault = 10_000_000;
const makersMaxDefault = 1000;

export function createBook(options: BookOptions = {}): Book {
  return faceOf(createState(options));
}

/**
 * Makes a book of orders that were open, each given after those that came before it: in the order in which they were placed, or as
 * `openOrders` lists them. Nothing counts as changed in it.
 */
export function restoreBook(openOrders: Iterable<OpenOrder>, options: BookOptions = {}): Book {
  const state = createState(options);
  for (const order of openOrders) {
    assertWhole("number", order.number);
    assertWhole("price", order.price);
    assertWhole("size", order.size);
    assertWhole("remaining size", order.remaining);
    if (order.remaining > order.size) throw new Error(`order ${order.id} has more left than its size`);
    if (isBestWithin(otherSide(state, order.side), order.price))
      throw new Error(`order ${order.id} crosses the book`);
    if (!rest(state, order, order.remaining))
      throw new Error(`order ${order.id} is more than the book may hold`);
    state.lastNumber = Math.max(state.lastNumber, order.number);
  }
  takeLevelChanges(state);
  return faceOf(state);
}

function createState({ ordersMax = ordersMaxDefault, makersMax = makersMaxDefault }: BookOptions): BookState {
  return createBookState(ordersMax, makersMax);
}

function faceOf(state: BookState): Book {
  return {
    apply: (command, effects) => applyCommand(state, command, effects),
    find: (number) => findOpenOrder(state, number),
    depth: (levelsMax) => readDepth(state, levelsMax),
    takeLevelChanges: () => takeLevelChanges(state),
    openOrders: () => listOpenOrders(state),
    fingerprint: () => fingerprintOf(state),
    orderCount: () => state.numbers.count,
  };
}

function applyCommand(state: BookState, command: BookCommand, effects: Effect[]): void {
  const last = carryOut(state, command, effects);
  // `push` is not compiled into its caller where lists come empty, and then took 6 % of an operation.
  if (last !== undefined) effects[effects.length] = last;
}

function carryOut(state: BookState, command: BookCommand, effects: Effect[]): Effect | undefined {
  switch (command.kind) {
    case "place_limit":
      return placeLimit(state, command, effects);
    case "place_market":
      return placeMarket(state, command, effects);
    case "cancel":
      return cancelOrder(state, command);
    case "amend":
      return amendOrder(state, command);
  }
}
