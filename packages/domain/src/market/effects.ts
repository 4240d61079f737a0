import type { Side } from "./order.js";
import type { OrderEvent } from "./order-states.js";

/**
 * What a command did. Placing gives either one `rejected`; or trades and cancelled makers in the order in which they happened, then
 * `rested`, or `cancelled` for the rest, or nothing more if the last trade filled the order.
 */
export type Effect = Rested | Trade | Amended | Cancelled | Rejected | CommandRefused;

/** The order, or its remaining part, rests in the book. */
interface Rested {
  kind: "rested";
  id: string;
  remaining: number;
}

/** A trade at the maker's price. */
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

/** The order has ended with this much untraded. */
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
 * `unfilled`: an `ioc` or market order found nothing more to match. `quote_limit`: the rest of the budget does not buy a lot.
 * `book_full`: the book is at its capacity. `match_limit`: the order has matched as many resting orders as one may.
 * `slippage_limit`: the next price is beyond the price limit of a market order.
 */
export type CancelReason =
  | "requested"
  | "self_trade"
  | "unfilled"
  | "quote_limit"
  | "book_full"
  | "match_limit"
  | "slippage_limit";

export type RejectReason =
  | "post_only_would_cross"
  | "fok_not_fillable"
  | "no_liquidity"
  | "quote_limit_too_low"
  | "slippage_limit";

/** `order_not_open`: unknown or final. `size_not_smaller`, `size_not_above_filled`: an amendment must leave a smaller open part. */
export type CommandRefusal = "order_not_open" | "size_not_smaller" | "size_not_above_filled";

/** The events that an effect means for its orders; see `orderTransitions`. */
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
