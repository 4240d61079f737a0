import { type BookSide, removeFromSide } from "./book-side.js";
import type { Effect } from "./effects.js";
import type { SelfTrade } from "./order.js";
import { idOf } from "./order-rows.js";

/**
 * An incoming order has met a resting order of its own owner, and the two must not trade. `cancel_newest` ends the incoming order,
 * `cancel_oldest` the resting one, after which the incoming order goes on; `cancel_both` ends both.
 */
export function preventSelfTrade(
  side: BookSide,
  maker: number,
  selfTrade: SelfTrade,
  effects: Effect[],
): "go_on" | "stop" {
  if (selfTrade !== "cancel_newest") {
    effects.push({
      kind: "cancelled",
      id: idOf(side.rows, maker),
      remaining: side.rows.remaining[maker >> 1] as number,
      reason: "self_trade",
    });
    removeFromSide(side, maker);
  }
  return selfTrade === "cancel_oldest" ? "go_on" : "stop";
}
