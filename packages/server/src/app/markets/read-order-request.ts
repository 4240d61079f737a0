import {
  type MarketRegistry,
  parseAmount,
  parsePrice,
  parseSize,
  type SelfTrade,
  type Side,
  type TimeInForce,
  type TradedMarket,
} from "@bursar/domain";
import type { PlaceOrderBody } from "@bursar/protocol";
import { isRefused, type Refused } from "../requests/refused.js";

/** What a request for an order asks for, once its market is known and its numbers are whole steps of it. */
export interface OrderRequest {
  market: TradedMarket;
  side: Side;
  type: "limit" | "market";
  timeInForce: TimeInForce | null;
  selfTrade: SelfTrade;
  price: number | null;
  size: number | null;
  quoteSize: bigint | null;
}

export function readOrderRequest(markets: MarketRegistry, body: PlaceOrderBody): OrderRequest | Refused {
  const market = markets.find(body.market);
  if (market === undefined) return fieldFault("MARKET_UNKNOWN", "market", "is not a market of this service");
  const { side, self_trade: selfTrade = "cancel_newest" } = body;
  const common = { market, side, selfTrade };
  return body.type === "market" ? readMarketOrder(common, body) : readLimitOrder(common, body);
}

type Common = Pick<OrderRequest, "market" | "side" | "selfTrade">;

function readLimitOrder(common: Common, body: PlaceOrderBody): OrderRequest | Refused {
  if (body.quote_size !== undefined) return wrongField("quote_size", "is for market orders that buy");
  const price = readPrice(common.market, body.price);
  if (isRefused(price)) return price;
  const size = readSize(common.market, body.size);
  if (isRefused(size)) return size;
  const { time_in_force: timeInForce = "gtc" } = body;
  return { ...common, type: "limit", timeInForce, price, size, quoteSize: null };
}

function readMarketOrder(common: Common, body: PlaceOrderBody): OrderRequest | Refused {
  if (body.price !== undefined) return wrongField("price", "is for limit orders");
  if (body.time_in_force !== undefined) return wrongField("time_in_force", "is for limit orders");
  const order = { ...common, type: "market", timeInForce: null, price: null } as const;
  if (common.side === "sell") {
    if (body.quote_size !== undefined) return wrongField("quote_size", "is for market orders that buy");
    const size = readSize(common.market, body.size);
    return isRefused(size) ? size : { ...order, size, quoteSize: null };
  }
  const quoteSize = readQuoteSize(common.market, body.quote_size);
  if (isRefused(quoteSize)) return quoteSize;
  const size = body.size === undefined ? null : readSize(common.market, body.size);
  return isRefused(size) ? size : { ...order, size, quoteSize };
}

/** The same that an amount may be, which is more than any market can hold. */
const notAnAmount =
  "must be a positive decimal number such as 12.50, with at most 60 digits before the decimal point and 18 after it";

function readPrice({ steps, definition }: TradedMarket, text: string | undefined): number | Refused {
  if (text === undefined) return wrongField("price", "is required for a limit order");
  const price = parsePrice(text, steps);
  switch (price) {
    case "malformed":
    case "not_positive":
      return wrongField("price", notAnAmount);
    case "not_in_ticks":
      return fieldFault("PRICE_NOT_IN_TICKS", "price", `is not a multiple of ${definition.tickSize}`);
    case "too_large":
      return fieldFault("PRICE_NOT_IN_TICKS", "price", "exceeds the maximum of a market");
    default:
      return price;
  }
}

export function readSize({ steps, definition }: TradedMarket, text: string | undefined): number | Refused {
  if (text === undefined) return wrongField("size", "is missing");
  const size = parseSize(text, steps);
  switch (size) {
    case "malformed":
    case "not_positive":
      return wrongField("size", notAnAmount);
    case "not_in_lots":
      return fieldFault("SIZE_NOT_IN_LOTS", "size", `is not a multiple of ${definition.lotSize}`);
    case "below_minimum":
      return fieldFault("SIZE_NOT_IN_LOTS", "size", `is less than ${definition.sizeMin}`);
    case "too_large":
      return fieldFault("SIZE_NOT_IN_LOTS", "size", "exceeds the maximum of a market");
    default:
      return size;
  }
}

function readQuoteSize({ quote }: TradedMarket, text: string | undefined): bigint | Refused {
  if (text === undefined)
    return wrongField("quote_size", "is required for a market order that buys: the most that it may spend");
  const amount = parseAmount(text, quote.decimals);
  switch (amount) {
    case "malformed":
    case "not_positive":
      return wrongField("quote_size", notAnAmount);
    case "too_precise":
      return fieldFault(
        "AMOUNT_PRECISION_EXCEEDED",
        "quote_size",
        `has more than ${quote.decimals} decimals`,
      );
    default:
      return amount;
  }
}

function wrongField(field: string, reason: string): Refused {
  return fieldFault("INVALID_REQUEST", field, reason);
}

function fieldFault(refused: Refused["refused"], field: string, reason: string): Refused {
  return { refused, details: [{ path: `body.${field}`, reason }] };
}
