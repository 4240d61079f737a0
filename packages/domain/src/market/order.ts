/** Orders, and the commands that a book applies. Prices are whole ticks and sizes whole lots, as safe integers. */

export type Side = "buy" | "sell";

/**
 * How long a limit order lives: until it is cancelled (`gtc`), only for immediate matching (`ioc`), the same but only completely
 * (`fok`), or until it is cancelled and never as a taker (`post_only`).
 */
export type TimeInForce = "gtc" | "ioc" | "fok" | "post_only";

/** What happens when an incoming order meets a resting one of the same owner. The incoming order's choice counts. */
export type SelfTrade = "cancel_newest" | "cancel_oldest" | "cancel_both";

/** An order that rests in the book. */
export interface OpenOrder {
  number: number;
  id: string;
  owner: string;
  side: Side;
  price: number;
  /** Its whole size, including the filled part. */
  size: number;
  remaining: number;
}

/**
 * A command to a book. An order is found by its number, which is larger than those of all orders placed before it; effects name it by
 * its id. A book is a fold over its commands: the same commands in the same order give the same effects and the same book, so a stored
 * sequence of commands is enough to rebuild it.
 */
export type BookCommand = PlaceLimit | PlaceMarket | CancelOrder | AmendOrder;

export interface PlaceLimit {
  kind: "place_limit";
  number: number;
  id: string;
  owner: string;
  side: Side;
  /** In ticks: the most a buyer pays, the least a seller takes. */
  price: number;
  /** In lots. */
  size: number;
  timeInForce: TimeInForce;
  selfTrade: SelfTrade;
}

/** Matches up to a price limit and never rests. */
export interface PlaceMarket {
  kind: "place_market";
  number: number;
  id: string;
  owner: string;
  side: Side;
  /** In lots of the base asset, for buyers too. To spend an amount, give it as `quoteMax` with a larger size. */
  size: number;
  /** The most that a buyer spends, in tick-lots: the amount held for the order. Sellers have none. */
  quoteMax?: bigint;
  /** In ticks: it does not trade beyond this price. If absent, it matches at any price. */
  priceLimit?: number;
  selfTrade: SelfTrade;
}

export interface CancelOrder {
  kind: "cancel";
  number: number;
  id: string;
}

/**
 * Reduces an order without changing its place in the queue. The size is the whole size including the filled part, as in FIX, so that a
 * fill that happens while the command is in flight is not bought a second time.
 */
export interface AmendOrder {
  kind: "amend";
  number: number;
  id: string;
  size: number;
}
