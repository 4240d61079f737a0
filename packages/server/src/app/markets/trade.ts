import { formatPrice, formatSize, type Side, type TradedMarket } from "@bursar/domain";
import { showId, type Trade as TradeBody } from "@bursar/protocol";

/** A trade as it is published, without its parties. The price is in ticks, the size in lots. */
export interface Trade {
  id: string;
  /** Counts the market's trades. */
  sequence: number;
  price: number;
  size: number;
  takerSide: Side;
  occurredAt: Date;
}

export interface TradeStore {
  /** Newest first; `before` is the last sequence of the page before. */
  listTrades: (market: string, limit: number, before: string | undefined) => Promise<Trade[]>;
  /** Oldest first. */
  listTradesAfter: (market: string, after: number, limit: number) => Promise<Trade[]>;
  /** The sequence of the last trade; 0 if there was none. */
  lastTrade: (market: string) => Promise<number>;
}

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
