import type { DeltaMessage, Orderbook, Trade as TradeBody } from "@bursar/protocol";
import type { ShownChange } from "./best-levels.js";
import type { Levels } from "./depth-view.js";
import type { MarketDelta } from "./market-store.js";
import type { MarketView } from "./market-view.js";
import type { Trade } from "./trade.js";

/** How the best levels have changed. */
export type ShownDelta = Omit<MarketDelta, "market" | "changes"> & { changes: readonly ShownChange[] };

/** A market as those see it who follow it: its levels in this process's memory, and how they and trades are shown. */
export interface FollowedMarket {
  name: string;
  view: MarketView;
  presentBook: (levels: Levels, depth: number) => Omit<Orderbook, "stale">;
  presentDelta: (delta: ShownDelta, levels: Levels) => Omit<DeltaMessage, "type" | "channel">;
  presentTrade: (trade: Trade) => TradeBody;
}
