import type { Timers } from "../../runtime/timers.js";
import type { OrderStore } from "./order.js";

export interface CallOffOrdersDeps {
  store: Pick<OrderStore, "callOffFrozen" | "hasFrozenInBooks">;
  /** Called when there is something to do for the owner of a market. */
  onRequested: (market: string) => void;
  monotonicMs: () => number;
  timers: Pick<Timers, "after">;
}

/**
 * Calls off all orders of a wallet that is frozen, and waits until they are out of the books, for a while, or until somebody has
 * unfrozen it. `none`: there were none;
 * `left`: some are still there, because a market stands still or has very much to do.
 */
export type CallOffOrders = (tenantId: string, walletId: string) => Promise<"none" | "gone" | "left">;

/** Longer than it takes until another process takes over a market. */
const waitMaxMs = 5000;
const lookEveryMs = 20;

export function createOrdersCaller({
  store,
  onRequested,
  monotonicMs,
  timers,
}: CallOffOrdersDeps): CallOffOrders {
  const pause = () => new Promise<void>((resolve) => void timers.after(lookEveryMs, resolve));
  return async (tenantId, walletId) => {
    // Once more than the freeze has: an order can have come into a book while it was written. After it none can.
    const markets = await store.callOffFrozen(tenantId, walletId);
    if (markets.length === 0) return "none";
    for (const market of markets) onRequested(market);
    const beganMs = monotonicMs();
    while (await store.hasFrozenInBooks(tenantId, walletId)) {
      if (monotonicMs() - beganMs > waitMaxMs) return "left";
      await pause();
    }
    return "gone";
  };
}
