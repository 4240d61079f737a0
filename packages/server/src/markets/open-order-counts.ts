import type { OpenOrder } from "@bursar/domain";
import type { MarketCommand } from "../app/markets/market-store.js";

/** How many orders each tenant has in a market: those that rest, and those that are on their way into the book. */
export interface OpenOrderCounts {
  of: (tenantId: string) => number;
  add: (tenantId: string) => void;
  remove: (tenantId: string) => void;
}

/** A resting order is of the tenant that is its owner. */
export function countOpenOrders(
  resting: readonly Pick<OpenOrder, "owner">[],
  waiting: readonly Pick<MarketCommand, "kind" | "tenantId">[],
): OpenOrderCounts {
  const counts = new Map<string, number>();
  const change = (tenantId: string, by: number) => {
    const count = (counts.get(tenantId) ?? 0) + by;
    if (count === 0) counts.delete(tenantId);
    else counts.set(tenantId, count);
  };
  for (const { owner } of resting) change(owner, 1);
  for (const { kind, tenantId } of waiting) if (kind === "place") change(tenantId, 1);
  return {
    of: (tenantId) => counts.get(tenantId) ?? 0,
    add: (tenantId) => change(tenantId, 1),
    remove: (tenantId) => change(tenantId, -1),
  };
}
