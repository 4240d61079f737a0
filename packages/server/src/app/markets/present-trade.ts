import { formatPrice, formatSize, type TradedMarket } from "@bursar/domain";
import { showId, type Trade as TradeBody } from "@bursar/protocol";
import type { Trade } from "./trade.js";

export function presentTrade({ name, steps }: TradedMarket, trade: Trade): TradeBody {
  return {
    id: showId("trd", trade.id),
    object: "trade",
    market: name,
    sequence: trade.sequence,
    price: formatPrice(trade.price, steps),
    size: formatSize(trade.size, steps),
    taker_side: trade.takerSide,
    occurred_at: trade.occurredAt.toISOString(),
  };
}
