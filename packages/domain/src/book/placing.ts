import { type BookSide, isBestWithin } from "./book-side.js";
import { assertWhole, type BookState, otherSide, rest, takeNumber } from "./book-state.js";
import type { PlaceLimit, PlaceMarket } from "./commands.js";
import type { CancelReason, Effect, RejectReason } from "./effects.js";
import { isFillable } from "./fillable.js";
import { affordable, takeFrom } from "./matching.js";

/** Trades and cancelled makers go to `effects`; what ends the placing, if that was not the last trade, is returned. */
export function placeLimit(state: BookState, command: PlaceLimit, effects: Effect[]): Effect | undefined {
  const { number, id, owner, side, price, size, selfTrade, timeInForce } = command;
  assertWhole("number", number);
  assertWhole("price", price);
  assertWhole("size", size);
  takeNumber(state, number);
  const other = otherSide(state, side);
  if (!isBestWithin(other, price)) return placeRest(state, command, size);
  if (timeInForce === "post_only") return reject(id, "post_only_would_cross");
  const incoming = { id, owner, side, price, size, selfTrade, remaining: size, budget: undefined };
  if (timeInForce === "fok" && !isFillable(other, incoming, state.makersMax))
    return reject(id, "fok_not_fillable");
  const end = takeFrom(other, incoming, state.makersMax, effects);
  if (end === "filled") return undefined;
  return end === "no_match"
    ? placeRest(state, command, incoming.remaining)
    : cancelRest(id, incoming.remaining, end);
}

/** What becomes of an order, or of what trades have left of it, when there is nothing more to take. */
function placeRest(state: BookState, command: PlaceLimit, remaining: number): Effect {
  const { id, timeInForce } = command;
  if (timeInForce === "fok") return reject(id, "fok_not_fillable");
  if (timeInForce === "ioc") return cancelRest(id, remaining, "unfilled");
  if (!rest(state, command, remaining)) return cancelRest(id, remaining, "book_full");
  return { kind: "rested", id, remaining };
}

/**
 * A market order never rests, and a buyer's never spends more than `quoteMax`: each trade takes no more lots than what is left of
 * it pays for, and where that is not one lot, the order ends.
 */
export function placeMarket(state: BookState, command: PlaceMarket, effects: Effect[]): Effect | undefined {
  const { number, id, owner, side, size, selfTrade, quoteMax: budget } = command;
  assertWhole("number", number);
  assertWhole("size", size);
  if (budget !== undefined && (side === "sell" || budget < 0n))
    throw new Error("a quote limit is not negative, and of a buyer");
  takeNumber(state, number);
  const incoming = { id, owner, side, price: undefined, size, selfTrade, remaining: size, budget };
  const other = otherSide(state, side);
  if (!isBestWithin(other, undefined)) return reject(id, "no_liquidity");
  if (affordable(incoming, bestPrice(other), 1) === 0) return reject(id, "quote_limit_too_low");
  const end = takeFrom(other, incoming, state.makersMax, effects);
  if (end === "filled") return undefined;
  return cancelRest(id, incoming.remaining, end === "no_match" ? "unfilled" : end);
}

function bestPrice(side: BookSide): number {
  return side.rows.price[side.best >> 1] as number;
}

function reject(id: string, reason: RejectReason): Effect {
  return { kind: "rejected", id, reason };
}

function cancelRest(id: string, remaining: number, reason: CancelReason): Effect {
  return { kind: "cancelled", id, remaining, reason };
}
