import type { Side } from "@bursar/domain";

/** A trade as everybody may see it. The price is in ticks, the size in lots. */
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
  /** The sequence of the last trade; 0 where there was none. */
  lastTrade: (market: string) => Promise<number>;
}
