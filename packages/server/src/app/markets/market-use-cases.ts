import type { TradedMarket } from "@bursar/domain";
import type { Refused } from "../requests/refused.js";
import type { AmendOrder, CancelOrder } from "./change-order.js";
import type { Order, OrderStore } from "./order.js";
import type { PlaceOrder } from "./place-order.js";
import type { PresentOrder } from "./present-order.js";
import type { ShowOrderbook } from "./show-orderbook.js";
import type { Trade } from "./trade.js";

/** What can be asked about markets, and done on them. */
export interface MarketUseCases {
  placeOrder: PlaceOrder;
  readOrder: (tenantId: string, id: string) => Promise<Order | Refused>;
  listOrders: OrderStore["listOrders"];
  cancelOrder: CancelOrder;
  amendOrder: AmendOrder;
  presentOrder: PresentOrder;
  listMarkets: () => readonly TradedMarket[];
  listTrades: (
    market: string,
    limit: number,
    before: string | undefined,
  ) => Promise<{ market: TradedMarket; trades: Trade[] } | Refused>;
  showOrderbook: ShowOrderbook;
}
