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
import { type PlaceOrderBody, readId } from "@bursar/protocol";
import { isRefused, type Refused } from "../requests/refused.js";
import type { KnownWallet } from "../wallets/wallet.js";
import type { WalletDirectory } from "../wallets/wallet-directory.js";

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

export interface ReadOrderDeps {
  markets: MarketRegistry;
  wallets: WalletDirectory;
}

/** Reads a request for an order, and finds the wallet that pays. */
export async function readOrder(
  { markets, wallets }: ReadOrderDeps,
  tenantId: string,
  body: PlaceOrderBody,
): Promise<{ request: OrderRequest; wallet: KnownWallet } | Refused> {
  const request = readOrderRequest(markets, body);
  if (isRefused(request)) return request;
  const wallet = await findWallet(wallets, tenantId, body.wallet_id);
  if (isRefused(wallet)) return wallet;
  const { network } = request.market.base;
  return wallet.network === network ? { request, wallet } : networkMismatch(wallet, network);
}

async function findWallet(
  wallets: WalletDirectory,
  tenantId: string,
  named: string | undefined,
): Promise<KnownWallet | Refused> {
  if (named === undefined) return await wallets.findByRole(tenantId, "primary");
  const id = readId("wlt", named);
  const wallet = id === undefined ? undefined : await wallets.find(tenantId, id);
  if (wallet !== undefined) return wallet;
  return {
    refused: "WALLET_UNKNOWN",
    details: [{ path: "body.wallet_id", reason: "is not a wallet of this tenant" }],
  };
}

/** Orders are settled in the ledger, in assets of one network: only that network's wallets have them. */
function networkMismatch(wallet: KnownWallet, network: string): Refused {
  const reason = `is a wallet of the network ${wallet.network}; the market trades assets of ${network}`;
  return { refused: "NETWORK_MISMATCH", details: [{ path: "body.wallet_id", reason }] };
}

function readOrderRequest(markets: MarketRegistry, body: PlaceOrderBody): OrderRequest | Refused {
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
