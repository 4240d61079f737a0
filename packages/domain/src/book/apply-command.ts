import type { CancelReason, CommandRefusal, Effect, RejectReason } from "../market/effects.js";
import type { AmendOrder, CancelOrder, PlaceLimit, PlaceMarket } from "../market/order.js";
import { type BookSide, isBestWithin, reduceInSide, removeFromSide } from "./book-side.js";
import { assertWhole, type BookState, otherSide, rest, rowOf, sideOfRow, takeNumber } from "./book-state.js";
import { affordable, isFillable, matchAgainst } from "./matching.js";
import { none } from "./rows.js";

/** Appends trades and cancelled makers to `effects` and returns the last effect, if that is not a trade. */
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
  const end = matchAgainst(other, incoming, state.makersMax, effects);
  if (end === "filled") return undefined;
  return end === "no_match"
    ? placeRest(state, command, incoming.remaining)
    : cancelRest(id, incoming.remaining, end);
}

/** Ends the placing of an order that matches nothing more, with what remains of it. */
function placeRest(state: BookState, command: PlaceLimit, remaining: number): Effect {
  const { id, timeInForce } = command;
  if (timeInForce === "fok") return reject(id, "fok_not_fillable");
  if (timeInForce === "ioc") return cancelRest(id, remaining, "unfilled");
  if (!rest(state, command, remaining)) return cancelRest(id, remaining, "book_full");
  return { kind: "rested", id, remaining };
}

/**
 * A market order never rests, and a buyer's never spends more than `quoteMax`: each trade is limited to the lots that the rest of the
 * budget pays for, and if that is less than one lot, the order ends. It also ends where the next price is beyond its price limit.
 */
export function placeMarket(state: BookState, command: PlaceMarket, effects: Effect[]): Effect | undefined {
  const { number, id, owner, side, size, selfTrade, quoteMax: budget, priceLimit } = command;
  assertWhole("number", number);
  assertWhole("size", size);
  if (budget !== undefined && (side === "sell" || budget < 0n))
    throw new Error("only a buyer has a quote limit, and it is not negative");
  if (priceLimit !== undefined) assertWhole("price", priceLimit);
  takeNumber(state, number);
  const incoming = { id, owner, side, price: priceLimit, size, selfTrade, remaining: size, budget };
  const other = otherSide(state, side);
  if (!isBestWithin(other, undefined)) return reject(id, "no_liquidity");
  if (!isBestWithin(other, priceLimit)) return reject(id, "slippage_limit");
  if (affordable(incoming, bestPrice(other), 1) === 0) return reject(id, "quote_limit_too_low");
  const end = matchAgainst(other, incoming, state.makersMax, effects);
  if (end === "filled") return undefined;
  if (end !== "no_match") return cancelRest(id, incoming.remaining, end);
  return cancelRest(id, incoming.remaining, isBestWithin(other, undefined) ? "slippage_limit" : "unfilled");
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

export function cancelOrder(state: BookState, command: CancelOrder): Effect {
  const row = rowOf(state, command.number);
  if (row === none) return refuse(command, "order_not_open");
  const remaining = state.rows.remaining[row >> 1] as number;
  removeFromSide(sideOfRow(state, row), row);
  return { kind: "cancelled", id: command.id, remaining, reason: "requested" };
}

/** Reduces an order. It keeps its place, because that harms no order behind it; a client that wants more places a new order. */
export function amendOrder(state: BookState, command: AmendOrder): Effect {
  assertWhole("size", command.size);
  const row = rowOf(state, command.number);
  if (row === none) return refuse(command, "order_not_open");
  const sizeBefore = state.rows.size[row >> 1] as number;
  const filled = sizeBefore - (state.rows.remaining[row >> 1] as number);
  if (command.size >= sizeBefore) return refuse(command, "size_not_smaller");
  if (command.size <= filled) return refuse(command, "size_not_above_filled");
  reduceInSide(sideOfRow(state, row), row, sizeBefore - command.size);
  state.rows.size[row >> 1] = command.size;
  return { kind: "amended", id: command.id, size: command.size, remaining: command.size - filled };
}

function refuse({ kind, id }: CancelOrder | AmendOrder, reason: CommandRefusal): Effect {
  return { kind: "command_refused", command: kind, id, reason };
}
