import { type MarketRegistry, orderStates } from "@bursar/domain";
import { showId } from "@bursar/protocol";
import type { LongWait } from "../../runtime/concurrency/long-wait.js";
import type { Timers } from "../../runtime/loops/timers.js";
import type { HoldOrders } from "../access/stop-in-any-case.js";
import type { ClientOrigin } from "../audit/audit-entry.js";
import type { AuditRecorder } from "../audit/audit-recorder.js";
import { isRefused, type Refused } from "../requests/refused.js";
import type { Order, OrderStore } from "./order.js";
import { readSize } from "./read-order-request.js";

/** Requests to change orders. They are recorded on the order; the market's matching engine carries them out in its next batch. */
export interface OrderChanges {
  /** Requests that an order is cancelled. It succeeds for an order that is cancelled already. */
  cancelOrder: (origin: ClientOrigin, id: string) => Promise<Order | Refused>;
  /** Requests that an order is made smaller. If more of it is filled by the time it is executed, the order stays as it is. */
  amendOrder: (origin: ClientOrigin, id: string, size: string) => Promise<Order | Refused>;
  cancelOrdersOfFrozenWallet: CancelOrdersOfFrozenWallet;
}

/**
 * Cancels all orders of a frozen wallet, and waits a few seconds until they have left the books or the wallet is unfrozen. `none`: it
 * had no orders; `remaining`: some are still in a book, because no process runs its market or the market is overloaded. They do not trade.
 */
export type CancelOrdersOfFrozenWallet = (
  tenantId: string,
  walletId: string,
) => Promise<"none" | "cancelled" | "remaining">;

export interface OrderChangesDeps {
  markets: MarketRegistry;
  store: Pick<
    OrderStore,
    | "readOrder"
    | "requestCancel"
    | "requestAmendment"
    | "requestCancelsOfFrozenWallet"
    | "hasOrdersOfFrozenWallet"
  >;
  holdOrders: HoldOrders;
  longWait: LongWait;
  /** Called when a market has something to do. */
  onRequested: (market: string) => void;
  audit: Pick<AuditRecorder, "recordAct">;
  monotonicMs: () => number;
  timers: Pick<Timers, "after">;
}

/** The first look is soon, because a market needs a few milliseconds; the later ones leave the database to others. */
const pollAfterMs = 20;
const pollEveryMaxMs = 200;

export function createOrderChanges(deps: OrderChangesDeps): OrderChanges {
  const { markets, store, holdOrders, longWait, onRequested, audit, monotonicMs, timers } = deps;
  const pause = (ms: number) => new Promise<void>((resolve) => void timers.after(ms, resolve));
  /** The requests to freeze one wallet wait together. */
  const waiting = new Map<string, Promise<"cancelled" | "remaining">>();

  async function waitForBooks(
    tenantId: string,
    walletId: string,
    waitMs: number,
  ): Promise<"cancelled" | "remaining"> {
    const beganMs = monotonicMs();
    for (let pauseMs = pollAfterMs; ; pauseMs = Math.min(2 * pauseMs, pollEveryMaxMs)) {
      if (!(await store.hasOrdersOfFrozenWallet(tenantId, walletId))) return "cancelled";
      if (monotonicMs() - beganMs > waitMs) {
        await holdOrders({ tenantId, subjectId: walletId });
        return "remaining";
      }
      await pause(pauseMs);
    }
  }

  return {
    cancelOrder: async (origin, id) => {
      const { tenantId, clientId } = origin.principal;
      const isOpen = await store.requestCancel(tenantId, id, clientId);
      const order = await store.readOrder(tenantId, id);
      if (order === undefined) return { refused: "ORDER_NOT_FOUND" };
      if (isOpen) {
        audit.recordAct(origin, "order.cancel", showId("ord", id));
        onRequested(order.market);
      } else if (order.step?.state !== "cancelled") return { refused: "ORDER_NOT_OPEN" };
      return order;
    },
    amendOrder: async (origin, id, requested) => {
      const { tenantId, clientId } = origin.principal;
      const order = await store.readOrder(tenantId, id);
      if (order === undefined) return { refused: "ORDER_NOT_FOUND" };
      const size = readSize(markets.get(order.market), requested);
      if (isRefused(size)) return size;
      const { state = "pending", filled = 0, size: current = order.size } = order.step ?? {};
      if (orderStates[state].final || order.type === "market") return { refused: "ORDER_NOT_OPEN" };
      if (current !== null && size >= current) return refuseSize("is not less than the order's size");
      if (size <= filled) return refuseSize("must be more than the filled part of the order");
      if (!(await store.requestAmendment(tenantId, id, size, clientId))) return { refused: "ORDER_NOT_OPEN" };
      audit.recordAct(origin, "order.amend", showId("ord", id));
      onRequested(order.market);
      return order;
    },
    cancelOrdersOfFrozenWallet: async (tenantId, walletId) => {
      // The freeze has requested it already; an order can have entered a book while it was written. After this, none can.
      const named = await store.requestCancelsOfFrozenWallet(tenantId, walletId);
      if (named.length === 0) return "none";
      for (const market of named) onRequested(market);
      const key = `${tenantId} ${walletId}`;
      const begun = waiting.get(key);
      if (begun !== undefined) return begun;
      const wait = longWait
        .run((waitMs) => waitForBooks(tenantId, walletId, waitMs))
        .finally(() => waiting.delete(key));
      waiting.set(key, wait);
      return wait;
    },
  };
}

function refuseSize(reason: string): Refused {
  return { refused: "INVALID_REQUEST", details: [{ path: "body.size", reason }] };
}
