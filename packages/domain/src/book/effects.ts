import type { Side } from "./order.js";
import type { OrderEvent } from "./order-states.js";

/**
 * What a command did. Placing gives `rejected` alone; or trades and cancelled makers in the order in which they happened, and at the
 * end `rested`, or `cancelled` for what is left, or nothing more where the last trade filled it.
 */
export type Effect = Rested | Trade | Amended | Cancelled | Rejected | CommandRefused;

/** The order, or what trades have left of it, is in the book. */
interface Rested {
  kind: "rested";
  id: string;
  remaining: number;
}

/** The price is the maker's. */
export interface Trade {
  kind: "trade";
  maker: string;
  makerOwner: string;
  makerRemaining: number;
  taker: string;
  takerOwner: string;
  takerSide: Side;
  takerRemaining: number;
  price: number;
  size: number;
}

interface Amended {
  kind: "amended";
  id: string;
  size: number;
  remaining: number;
}

/** The order has ended with this much not traded. */
interface Cancelled {
  kind: "cancelled";
  id: string;
  remaining: number;
  reason: CancelReason;
}

/** The order has ended before it did anything. */
interface Rejected {
  kind: "rejected";
  id: string;
  reason: RejectReason;
}

/** A cancel or an amendment that changed nothing. */
interface CommandRefused {
  kind: "command_refused";
  command: "cancel" | "amend";
  id: string;
  reason: CommandRefusal;
}

/**
 * `unfilled`: an `ioc` or market order found no more to take. `quote_limit`: what is left to spend does not buy a lot.
 * `book_full`: the book holds as much as it may. `match_limit`: it has met as many resting orders as one may.
 */
export type CancelReason =
  | "requested"
  | "self_trade"
  | "unfilled"
  | "quote_limit"
  | "book_full"
  | "match_limit";

export type RejectReason =
  | "post_only_would_cross"
  | "fok_not_fillable"
  | "no_liquidity"
  | "quote_limit_too_low";

/** `order_not_open`: unknown, or over. `size_not_smaller`, `size_not_above_filled`: an amendment takes away a part of what is left. */
export type CommandRefusal = "order_not_open" | "size_not_smaller" | "size_not_above_filled";

/** What an effect is in the life of the orders that it touches; see `orderTransitions`. */
export function orderEventsOf(effect: Effect): [id: string, event: OrderEvent][] {
  switch (effect.kind) {
    case "rested":
      return [[effect.id, "rest"]];
    case "trade":
      return [
        [effect.maker, effect.makerRemaining === 0 ? "fill" : "fill_part"],
        [effect.taker, effect.takerRemaining === 0 ? "fill" : "fill_part"],
      ];
    case "amended":
      return [[effect.id, "amend"]];
    case "cancelled":
      return [[effect.id, "cancel"]];
    case "rejected":
      return [[effect.id, "reject"]];
    case "command_refused":
      return [];
  }
}
