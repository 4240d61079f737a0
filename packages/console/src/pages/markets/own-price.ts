import { compare, type Order } from "@bursar/client";

type Resting = Pick<Order, "side" | "state" | "price">;

/**
 * The best price at which an order would meet one of its own tenant, if it reaches that far; undefined if none is within its limit. The
 * service cancels the newer of two such orders, so the one that comes ends there.
 */
export function ownPriceInReach(
  { side, price: limit }: { side: "buy" | "sell"; price?: string },
  orders: readonly Resting[] | undefined,
): string | undefined {
  const isBetter = (one: string, other: string) =>
    side === "buy" ? compare(one, other) < 0 : compare(one, other) > 0;
  let best: string | undefined;
  for (const { side: own, state, price } of orders ?? []) {
    const isResting = state === "open" || state === "partially_filled";
    if (own === side || !isResting || price === null) continue;
    if (best === undefined || isBetter(price, best)) best = price;
  }
  if (best === undefined || limit === undefined) return best;
  try {
    return isBetter(limit, best) ? undefined : best;
  } catch {
    // What was typed is no price. The service says so.
    return undefined;
  }
}
