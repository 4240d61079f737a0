import type { TradedMarket } from "@bursar/domain";
import type { Recorded } from "../audit/record-creations.js";
import type { Refused } from "../requests/refused.js";
import type { Order, OrderStore } from "./order.js";
import type { OrderChanges } from "./order-changes.js";
import type { PlaceOrder } from "./place-order.js";
import type { PresentOrder } from "./present-order.js";
import type { ShowOrderbook } from "./show-orderbook.js";
import type { Trade } from "./trade.js";

interface ListedMarket {
  market: TradedMarket;
  state: "trading" | "halted";
  priceMin: string | null;
  priceMax: string | null;
}

/** What clients can do on markets. */
export interface MarketUseCases {
  placeOrder: Recorded<PlaceOrder>;
  readOrder: (tenantId: string, id: string) => Promise<Order | Refused>;
  listOrders: OrderStore["listOrders"];
  cancelOrder: OrderChanges["cancelOrder"];
  amendOrder: OrderChanges["amendOrder"];
  presentOrder: PresentOrder;
  /** With the prices that new orders may have now; null until they are known. */
  listMarkets: () => Promise<readonly ListedMarket[]>;
  listTrades: (
    market: string,
    limit: number,
    before: string | undefined,
  ) => Promise<{ market: TradedMarket; trades: Trade[] } | Refused>;
  showOrderbook: ShowOrderbook;
}
