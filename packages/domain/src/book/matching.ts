import { type BookSide, isBestWithin, reduceInSide, removeFromSide } from "./book-side.js";
import type { CancelReason, Effect } from "./effects.js";
import type { IncomingOrder } from "./order.js";
import { idOf, ownerOf } from "./order-rows.js";
import { preventSelfTrade } from "./self-trade.js";

/** Why an incoming order takes no more: it is filled, the prices are not for it, or the reason why the rest of it ends here. */
export type MatchEnd =
  | "filled"
  | "no_match"
  | Extract<CancelReason, "self_trade" | "quote_limit" | "match_limit">;

/**
 * Lets an order take what rests on the other side: the best price first, and within a price the order that came first. The price of
 * a trade is that of the resting order. It meets no more of them than `makersMax`, so that no order is more work than a market can do
 * in one go.
 */
export function takeFrom(
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

/** The part of a size that the order's budget pays for. */
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
