import type { ListTradesQuery, ShowOrderbookQuery } from "../generated/operations.js";
import { createCursorList } from "../lists/list.js";
import { followTrades } from "../stream/follow-trades.js";
import { liveOrderbook } from "../stream/live-orderbook.js";
import type { CallOptions } from "../transport/options.js";
import type { Transport } from "../transport/transport.js";

export function createMarkets(transport: Transport) {
  return {
    list: (options?: CallOptions) => transport.call("GET /v1/markets", {}, options),
  };
}

export function createOrderbook(transport: Transport) {
  return {
    /** A snapshot of one market, by default of the first. */
    get: (query?: ShowOrderbookQuery, options?: CallOptions) =>
      transport.call("GET /v1/orderbook", { query: query ?? {} }, options),
    /** The book after each change, checked by sequence and checksum. */
    live: liveOrderbook(transport),
  };
}

export function createTrades(transport: Transport) {
  return {
    /** The trades of a market as they happen, or from `since` on. */
    follow: followTrades(transport),
    list: (market: string, query?: ListTradesQuery, options?: CallOptions) =>
      createCursorList((position) =>
        transport.call(
          "GET /v1/markets/{market}/trades",
          { path: { market }, query: { ...query, ...position } },
          options,
        ),
      ),
  };
}
