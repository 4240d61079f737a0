import { formatAmount, formatPrice, formatSize, type MarketRegistry } from "@bursar/domain";
import { type Order as OrderBody, showId } from "@bursar/protocol";
import type { Order, OrderFailure, OrderJudgement } from "./order.js";

/** The human-readable reasons; the reference page lists them. */
export const orderFailureMessages: Record<OrderFailure, string> = {
  INSUFFICIENT_FUNDS: "Insufficient funds in the wallet.",
  WALLET_FROZEN: "The wallet is frozen.",
  CLIENT_DISABLED: "The client that placed it was disabled, or its tenant was suspended.",
  POLICY_REJECTED: "Rejected by policy.",
  POST_ONLY_WOULD_CROSS: "A post-only order would have taken liquidity.",
  FOK_NOT_FILLABLE: "It could not be filled completely.",
  NO_LIQUIDITY: "There was no liquidity.",
  QUOTE_LIMIT_TOO_LOW: "The quote size is too small to buy one lot.",
  SELF_TRADE: "It would have traded with an order of the same tenant.",
  UNFILLED: "There was not enough liquidity to fill the rest.",
  QUOTE_LIMIT: "The remaining quote size is too small to buy one lot.",
  BOOK_FULL: "The order book is full.",
  MATCH_LIMIT: "It matched the maximum number of orders. Place another order for the rest.",
  PRICE_OUT_OF_BAND: "The price is outside the market's price band.",
  SLIPPAGE_LIMIT: "The next price was too far from the best price.",
  TOO_MANY_OPEN_ORDERS: "The tenant has reached the maximum number of open orders in this market.",
};

export type PresentOrder = (order: Order) => OrderBody;

/** An order as every reader sees it. */
export function createOrderPresenter(markets: MarketRegistry): PresentOrder {
  return (order) => {
    const { name, base, quote, steps } = markets.get(order.market);
    const { step, side, createdAt, judgement } = order;
    const { filled, quoteFilled, fee, size } = step ?? {
      filled: 0,
      quoteFilled: 0n,
      fee: 0n,
      size: order.size,
    };
    const received = side === "buy" ? base : quote;
    return {
      id: showId("ord", order.id),
      object: "order",
      market: name,
      side,
      type: order.type,
      time_in_force: order.timeInForce,
      self_trade: order.selfTrade,
      price: order.price === null ? null : formatPrice(order.price, steps),
      size: size === null ? null : formatSize(size, steps),
      quote_size: order.quoteSize === null ? null : formatAmount(order.quoteSize, quote.decimals),
      state: step?.state ?? "pending",
      version: step?.version ?? 1,
      filled: formatSize(filled, steps),
      remaining: size === null ? null : formatSize(size - filled, steps),
      quote_filled: formatAmount(quoteFilled, quote.decimals),
      fee: { asset: received.code, amount: formatAmount(fee, received.decimals) },
      failure: step?.failure == null ? null : presentFailure(step.failure, judgement),
      wallet_id: showId("wlt", order.walletId),
      reference: order.reference,
      policy_version: judgement?.policyVersion ?? order.policyVersion,
      created_by: showId("cli", order.clientId),
      created_at: createdAt.toISOString(),
      updated_at: (step?.occurredAt ?? createdAt).toISOString(),
    };
  };
}

function presentFailure(code: OrderFailure, judgement: OrderJudgement | null): OrderBody["failure"] {
  if (code !== "POLICY_REJECTED" || judgement === null) return { code, message: orderFailureMessages[code] };
  return { code, message: judgement.reason ?? orderFailureMessages[code], rule: judgement.rule };
}
