import type { DeltaMessage, Orderbook, Trade as TradeBody } from "@bursar/protocol";
import type { Levels } from "./depth-view.js";
import type { MarketDelta } from "./market-store.js";
import type { MarketView } from "./market-view.js";
import type { Trade } from "./trade.js";

/** A market as those see it who follow it: its levels in this process's memory, and how they and trades are shown. */
export interface FollowedMarket {
  name: string;
  view: MarketView;
  /** All levels. */
  presentBook: (levels: Levels) => Omit<Orderbook, "stale">;
  presentDelta: (delta: MarketDelta, levels: Levels) => Omit<DeltaMessage, "type" | "channel">;
  presentTrade: (trade: Trade) => TradeBody;
}
