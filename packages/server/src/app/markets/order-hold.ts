import { limitHold, type TradedMarket } from "@bursar/domain";
import type { AcceptedOrder } from "./order.js";

/** What an order gives away: quote where it buys, base where it sells. */
export function paidAsset(market: TradedMarket, { side }: Pick<AcceptedOrder, "side">): string {
  return (side === "buy" ? market.quote : market.base).code;
}

/** What an order can cost at most, which is what is set aside for it and what policy judges. */
export function orderHold(
  { steps }: TradedMarket,
  { side, price, size, quoteSize }: Pick<AcceptedOrder, "side" | "price" | "size" | "quoteSize">,
): bigint {
  if (price !== null && size !== null) return limitHold(side, price, size, steps);
  if (quoteSize !== null) return quoteSize;
  if (side === "sell" && size !== null) return limitHold("sell", 1, size, steps);
  throw new Error("an order without a price sells a size or spends an amount");
}
