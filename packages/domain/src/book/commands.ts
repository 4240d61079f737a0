import type { SelfTrade, Side, TimeInForce } from "./order.js";

/**
 * What a book can be told. An order is found by its number, which is larger than those of all that were placed before it, and its id is
 * what effects call it. A book is a fold over its commands: the same commands in the same order give the same effects and the
 * same book, so whoever keeps the sequence of commands keeps everything.
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

/** Takes what is there at any price and never rests. */
export interface PlaceMarket {
  kind: "place_market";
  number: number;
  id: string;
  owner: string;
  side: Side;
  /** In lots of the base asset, for buyers too. Whoever wants to spend an amount gives it as `quoteMax`, with a size beyond it. */
  size: number;
  /** The most that a buyer spends, in tick-lots: what is held for the order. Sellers have none. */
  quoteMax?: bigint;
  selfTrade: SelfTrade;
}

export interface CancelOrder {
  kind: "cancel";
  number: number;
  id: string;
}

/**
 * Makes an order smaller where it stands in its queue. The size is the whole size with what is filled already, as in FIX: a fill
 * that happens while the command is under way is then not bought a second time.
 */
export interface AmendOrder {
  kind: "amend";
  number: number;
  id: string;
  size: number;
}
