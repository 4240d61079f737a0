import type { Effect } from "../market/effects.js";
import type { BookCommand, OpenOrder, Side } from "../market/order.js";

/**
 * An order book with price-time priority, in memory. Only `apply` changes it, it uses neither clock nor randomness, and it holds
 * nothing but its open orders. So a caller can apply a batch, write the effects in one SQL transaction and publish them after the
 * commit. If the commit fails, the caller discards the book and restores it from the orders that are open in the database.
 *
 * This folder has two implementations: the fast one (`fast-book.ts` and the files that it imports) and `reference-book.ts`, which is
 * slow and obviously right. Tests feed both the same random commands and compare effects and books.
 */
export interface Book {
  /** Applies one command and appends its effects to `effects`. */
  apply: (command: BookCommand, effects: Effect[]) => void;
  find: (number: number) => OpenOrder | undefined;
  /** The best levels of each side, at most `levelsMax`. */
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
  /** At most this many orders rest; a further one is cancelled as `book_full`. */
  ordersMax?: number;
  /** An incoming order matches at most this many resting orders; the rest of it is then cancelled as `match_limit`. */
  makersMax?: number;
}

/** A price, the total size that rests at it and the number of orders. */
export interface DepthLevel {
  price: number;
  size: number;
  orderCount: number;
}

/** The levels of both sides, best first. */
export interface Depth {
  bids: DepthLevel[];
  asks: DepthLevel[];
}

/** The new state of a level; size 0 means that it was removed. */
export interface LevelChange extends DepthLevel {
  side: Side;
}
