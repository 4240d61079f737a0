import { MarketPath, TradePage, TradeQuery } from "@bursar/protocol";
import { presentTrade } from "../../../app/markets/trade.js";
import type { UseCases } from "../../../app/use-cases.js";
import { unwrap } from "../../access/guard.js";
import { readCursor, toPage } from "../../cursor.js";
import { defineRoute } from "../../route.js";

export function listTrades({ listTrades: list }: Pick<UseCases, "listTrades">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/markets/:market/trades",
      access: "orderbook:read",
      operationId: "listTrades",
      tag: "Markets",
      summary: "List the trades of a market",
      description: "Newest first. The parties are not named.",
      params: MarketPath,
      query: TradeQuery,
      success: { status: 200, schema: TradePage, description: "A page of trades." },
      errors: ["MARKET_NOT_FOUND"],
    },
    async (request) => {
      const { limit = 50, cursor } = request.query;
      const before = readCursor("trades", cursor);
      const { market, trades } = unwrap(await list(request.params.market, limit + 1, before));
      return toPage(
        "trades",
        trades,
        limit,
        ({ sequence }) => String(sequence),
        (trade) => presentTrade(market, trade),
      );
    },
  );
}
