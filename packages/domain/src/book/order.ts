/** The words that orders are described with. Prices are whole ticks and sizes whole lots, as safe integers. */

export type Side = "buy" | "sell";

/**
 * How long a limit order lives: until it is cancelled (`gtc`), no longer than its first look at the book (`ioc`), the same and only
 * as a whole (`fok`), or until it is cancelled and never as a taker (`post_only`).
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
  /** Its whole size, with what is filled already. */
  size: number;
  remaining: number;
}

/** An order that has reached the book and not found its place yet. */
export interface IncomingOrder {
  readonly id: string;
  readonly owner: string;
  readonly side: Side;
  /** The worst price it takes; undefined takes every price. */
  readonly price: number | undefined;
  readonly size: number;
  readonly selfTrade: SelfTrade;
  remaining: number;
  /** What it may still spend, in tick-lots; undefined is no limit. */
  budget: bigint | undefined;
}
