import type { CancelReason, Effect } from "../market/effects.js";
import type { SelfTrade, Side } from "../market/order.js";
import { type BookSide, isBestWithin, reduceInSide, removeFromSide } from "./book-side.js";
import { seekBest, seekNext } from "./price-index.js";
import { idOf, none, ownerOf } from "./rows.js";

/** An order that is being matched. */
export interface IncomingOrder {
  readonly id: string;
  readonly owner: string;
  readonly side: Side;
  /** Its limit price; undefined matches every price. */
  readonly price: number | undefined;
  readonly size: number;
  readonly selfTrade: SelfTrade;
  remaining: number;
  /** What it may still spend, in tick-lots; undefined means no limit. */
  budget: bigint | undefined;
}

/** Why matching ended: the order is filled, no price matches, or the reason why the rest of it is cancelled. */
export type MatchEnd =
  | "filled"
  | "no_match"
  | Extract<CancelReason, "self_trade" | "quote_limit" | "match_limit">;

/**
 * Matches an order against the other side: the best price first, and within a price the oldest order. The price of a trade is that of
 * the resting order. It matches at most `makersMax` orders, which bounds the work of one command.
 */
export function matchAgainst(
  side: BookSide,
  incoming: IncomingOrder,
  makersMax: number,
  effects: Effect[],
): MatchEnd {
  const { rows } = side;
  for (let met = 0; incoming.remaining > 0; met++) {
    if (!isBestWithin(side, incoming.price)) return "no_match";
    if (met === makersMax) return "match_limit";
    const maker = rows.next[side.best] as number;
    if (ownerOf(rows, maker) === incoming.owner) {
      if (preventSelfTrade(side, maker, incoming.selfTrade, effects) === "stop") return "self_trade";
      continue;
    }
    const price = rows.price[side.best >> 1] as number;
    const size = affordable(
      incoming,
      price,
      Math.min(incoming.remaining, rows.remaining[maker >> 1] as number),
    );
    if (size === 0) return "quote_limit";
    trade(side, maker, incoming, price, size, effects);
  }
  return "filled";
}

/** How much of a size the order's budget pays for. */
export function affordable({ budget }: IncomingOrder, price: number, size: number): number {
  if (budget === undefined) return size;
  const lots = budget / BigInt(price);
  return lots < BigInt(size) ? Number(lots) : size;
}

function trade(
  side: BookSide,
  maker: number,
  incoming: IncomingOrder,
  price: number,
  size: number,
  effects: Effect[],
): void {
  const { rows } = side;
  const makerRemaining = (rows.remaining[maker >> 1] as number) - size;
  incoming.remaining -= size;
  if (incoming.budget !== undefined) incoming.budget -= BigInt(price) * BigInt(size);
  effects[effects.length] = {
    kind: "trade",
    maker: idOf(rows, maker),
    makerOwner: ownerOf(rows, maker),
    makerRemaining,
    taker: incoming.id,
    takerOwner: incoming.owner,
    takerSide: incoming.side,
    takerRemaining: incoming.remaining,
    price,
    size,
  };
  if (makerRemaining === 0) removeFromSide(side, maker);
  else reduceInSide(side, maker, size);
}

/**
 * Prevents a trade between two orders of one owner. `cancel_newest` cancels the incoming order, `cancel_oldest` the resting one, after
 * which matching continues; `cancel_both` cancels both.
 */
function preventSelfTrade(
  side: BookSide,
  maker: number,
  selfTrade: SelfTrade,
  effects: Effect[],
): "continue" | "stop" {
  if (selfTrade !== "cancel_newest") {
    effects.push({
      kind: "cancelled",
      id: idOf(side.rows, maker),
      remaining: side.rows.remaining[maker >> 1] as number,
      reason: "self_trade",
    });
    removeFromSide(side, maker);
  }
  return selfTrade === "cancel_oldest" ? "continue" : "stop";
}

/**
 * Whether an order would be filled completely; the book is not changed. Orders of the same owner do not fill it: with `cancel_oldest`
 * they would be cancelled, otherwise matching would end at the first of them. Both kinds count towards `makersMax`.
 */
export function isFillable(side: BookSide, incoming: IncomingOrder, makersMax: number): boolean {
  // The totals of levels reject most orders without reading single orders, of which there may be a million.
  if (side.lots < incoming.size || lotsWithin(side, incoming) < incoming.size) return false;
  const { rows } = side;
  let missing = incoming.size;
  let met = 0;
  for (let level = seekBest(side.index); level !== none; level = seekNext(side.index)) {
    if (!isWithin(side, level, incoming)) return false;
    for (let row = rows.next[level] as number; row !== level; row = rows.next[row] as number) {
      if (met === makersMax) return false;
      met += 1;
      if (ownerOf(rows, row) !== incoming.owner) missing -= rows.remaining[row >> 1] as number;
      else if (incoming.selfTrade !== "cancel_oldest") return false;
      if (missing <= 0) return true;
    }
  }
  return false;
}

/** The total size at prices that match, counted until it is enough. */
function lotsWithin(side: BookSide, incoming: IncomingOrder): number {
  let lots = 0;
  let level = seekBest(side.index);
  while (level !== none && lots < incoming.size && isWithin(side, level, incoming)) {
    lots += side.rows.lots[level >> 1] as number;
    level = seekNext(side.index);
  }
  return lots;
}

function isWithin(side: BookSide, level: number, { price }: IncomingOrder): boolean {
  return price === undefined || side.sign * (side.rows.price[level >> 1] as number) >= side.sign * price;
}
