import type { Effect } from "../market/effects.js";
import type { AmendOrder, BookCommand, PlaceLimit, PlaceMarket, Side } from "../market/order.js";

/**
 * The reference implementation: a list of orders in the order of their arrival, integers of any size, and every question answered by
 * looking at all orders. It is slow and obviously right, and shares only types with the fast book, which tests compare with it.
 */
export interface ReferenceOrder {
  number: number;
  id: string;
  owner: string;
  side: Side;
  price: bigint;
  size: bigint;
  remaining: bigint;
}

export interface ReferenceBook {
  /** In the order of arrival. */
  orders: ReferenceOrder[];
  ordersMax: number;
  makersMax: number;
}

type Taker = PlaceLimit | PlaceMarket;

const lotsMax = 2n ** 53n - 1n;

export function applyToReference(book: ReferenceBook, command: BookCommand): Effect[] {
  switch (command.kind) {
    case "place_limit":
      return placeLimit(book, command);
    case "place_market":
      return placeMarket(book, command);
    case "cancel": {
      const order = book.orders.find(({ id }) => id === command.id);
      if (order === undefined)
        return [{ kind: "command_refused", command: "cancel", id: command.id, reason: "order_not_open" }];
      remove(book, order);
      return [{ kind: "cancelled", id: order.id, remaining: Number(order.remaining), reason: "requested" }];
    }
    case "amend":
      return amend(book, command);
  }
}

function placeLimit(book: ReferenceBook, command: PlaceLimit): Effect[] {
  const { number, id, owner, side, timeInForce } = command;
  if (timeInForce === "post_only" && bestFor(book, command) !== undefined)
    return [{ kind: "rejected", id, reason: "post_only_would_cross" }];
  if (timeInForce === "fok") {
    // Whether it can be filled is tried out, on a copy.
    const copy = { ...book, orders: book.orders.map((order) => ({ ...order })) };
    if (take(copy, command).left > 0n) return [{ kind: "rejected", id, reason: "fok_not_fillable" }];
  }
  const { left, effects, end } = take(book, command);
  if (left === 0n) return effects;
  const cancel = (reason: "self_trade" | "match_limit" | "unfilled" | "book_full"): Effect[] => [
    ...effects,
    { kind: "cancelled", id, remaining: Number(left), reason },
  ];
  if (end === "self_trade" || end === "match_limit") return cancel(end);
  if (timeInForce === "ioc") return cancel("unfilled");
  const lots = book.orders
    .filter((order) => order.side === side)
    .reduce((sum, order) => sum + order.remaining, 0n);
  if (book.orders.length >= book.ordersMax || lots + left > lotsMax) return cancel("book_full");
  const price = BigInt(command.price);
  book.orders.push({ number, id, owner, side, price, size: BigInt(command.size), remaining: left });
  return [...effects, { kind: "rested", id, remaining: Number(left) }];
}

function placeMarket(book: ReferenceBook, command: PlaceMarket): Effect[] {
  const { id, quoteMax } = command;
  const isEmpty = () => book.orders.every((order) => order.side === command.side);
  if (isEmpty()) return [{ kind: "rejected", id, reason: "no_liquidity" }];
  const best = bestFor(book, command);
  if (best === undefined) return [{ kind: "rejected", id, reason: "slippage_limit" }];
  if (quoteMax !== undefined && quoteMax < best.price)
    return [{ kind: "rejected", id, reason: "quote_limit_too_low" }];
  const { left, effects, end } = take(book, command);
  if (left === 0n) return effects;
  const reason = end === "unfilled" && !isEmpty() ? "slippage_limit" : end;
  return [...effects, { kind: "cancelled", id, remaining: Number(left), reason }];
}

/** Trades one lot of thought at a time: find the best order, deal with it, look again. */
function take(book: ReferenceBook, taker: Taker) {
  const effects: Effect[] = [];
  let left = BigInt(taker.size);
  let money = taker.kind === "place_market" ? taker.quoteMax : undefined;
  for (;;) {
    const maker = bestFor(book, taker);
    if (left === 0n || maker === undefined) return { left, effects, end: "unfilled" as const };
    if (effects.length === book.makersMax) return { left, effects, end: "match_limit" as const };
    if (maker.owner === taker.owner) {
      if (taker.selfTrade === "cancel_newest") return { left, effects, end: "self_trade" as const };
      remove(book, maker);
      effects.push({
        kind: "cancelled",
        id: maker.id,
        remaining: Number(maker.remaining),
        reason: "self_trade",
      });
      if (taker.selfTrade === "cancel_both") return { left, effects, end: "self_trade" as const };
      continue;
    }
    const wanted = left < maker.remaining ? left : maker.remaining;
    const size = money !== undefined && money < wanted * maker.price ? money / maker.price : wanted;
    if (size === 0n) return { left, effects, end: "quote_limit" as const };
    left -= size;
    maker.remaining -= size;
    if (money !== undefined) money -= size * maker.price;
    if (maker.remaining === 0n) remove(book, maker);
    effects.push({
      kind: "trade",
      maker: maker.id,
      makerOwner: maker.owner,
      makerRemaining: Number(maker.remaining),
      taker: taker.id,
      takerOwner: taker.owner,
      takerSide: taker.side,
      takerRemaining: Number(left),
      price: Number(maker.price),
      size: Number(size),
    });
  }
}

/** The order that a taker meets next: the best price that it takes, and of equal ones the first in the list. */
function bestFor(book: ReferenceBook, taker: Taker): ReferenceOrder | undefined {
  let best: ReferenceOrder | undefined;
  for (const order of book.orders) {
    if (order.side === taker.side) continue;
    const isBuying = taker.side === "buy";
    const bound = taker.kind === "place_limit" ? taker.price : taker.priceLimit;
    if (bound !== undefined) {
      const limit = BigInt(bound);
      if (isBuying ? order.price > limit : order.price < limit) continue;
    }
    if (best === undefined || (isBuying ? order.price < best.price : order.price > best.price)) best = order;
  }
  return best;
}

function amend(book: ReferenceBook, { id, size }: AmendOrder): Effect[] {
  const order = book.orders.find((one) => one.id === id);
  if (order === undefined)
    return [{ kind: "command_refused", command: "amend", id, reason: "order_not_open" }];
  const filled = order.size - order.remaining;
  if (BigInt(size) >= order.size)
    return [{ kind: "command_refused", command: "amend", id, reason: "size_not_smaller" }];
  if (BigInt(size) <= filled)
    return [{ kind: "command_refused", command: "amend", id, reason: "size_not_above_filled" }];
  order.size = BigInt(size);
  order.remaining = BigInt(size) - filled;
  return [{ kind: "amended", id, size, remaining: Number(order.remaining) }];
}

function remove(book: ReferenceBook, order: ReferenceOrder): void {
  book.orders.splice(book.orders.indexOf(order), 1);
}
