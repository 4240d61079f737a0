import { type MarketRegistry, orderStates } from "@bursar/domain";
import { isRefused, type Refused } from "../requests/refused.js";
import type { Order, OrderStore } from "./order.js";
import { readSize } from "./read-order-request.js";

export interface ChangeOrderDeps {
  markets: MarketRegistry;
  store: Pick<OrderStore, "readOrder" | "requestCancel" | "requestAmendment">;
  /** Called when there is something to do for the owner of a market. */
  onRequested: (market: string) => void;
}

export type CancelOrder = (tenantId: string, id: string) => Promise<Order | Refused>;
export type AmendOrder = (tenantId: string, id: string, size: string) => Promise<Order | Refused>;

/** Asks for an order to be called off. To call off what was called off is a success. */
export function createOrderCanceller({ store, onRequested }: ChangeOrderDeps): CancelOrder {
  return async (tenantId, id) => {
    const isOpen = await store.requestCancel(tenantId, id);
    const order = await store.readOrder(tenantId, id);
    if (order === undefined) return { refused: "ORDER_NOT_FOUND" };
    if (isOpen) onRequested(order.market);
    else if (order.step?.state !== "cancelled") return { refused: "ORDER_NOT_OPEN" };
    return order;
  };
}

/** Asks for an order to be made smaller. Where it has been filled beyond that when its turn comes, it stays as it is. */
export function createOrderAmender({ markets, store, onRequested }: ChangeOrderDeps): AmendOrder {
  return async (tenantId, id, text) => {
    const order = await store.readOrder(tenantId, id);
    if (order === undefined) return { refused: "ORDER_NOT_FOUND" };
    const size = readSize(markets.get(order.market), text);
    if (isRefused(size)) return size;
    const { state = "pending", filled = 0, size: current = order.size } = order.step ?? {};
    if (orderStates[state].final || order.type === "market") return { refused: "ORDER_NOT_OPEN" };
    if (current !== null && size >= current) return refuseSize("is not less than the order's size");
    if (size <= filled) return refuseSize("is not more than what is filled of the order");
    if (!(await store.requestAmendment(tenantId, id, size))) return { refused: "ORDER_NOT_OPEN" };
    onRequested(order.market);
    return order;
  };
}

function refuseSize(reason: string): Refused {
  return { refused: "INVALID_REQUEST", details: [{ path: "body.size", reason }] };
}
