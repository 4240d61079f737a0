import { formatAmount, formatPrice, formatSize, type MarketRegistry } from "@bursar/domain";
import { type Order as OrderBody, showId } from "@bursar/protocol";
import type { Order, OrderFailure, OrderJudgement } from "./order.js";

/** Why an order has ended, for people; its page in the documentation is made of them. */
export const orderFailureMessages: Record<OrderFailure, string> = {
  INSUFFICIENT_FUNDS: "The wallet did not have enough.",
  WALLET_FROZEN: "The wallet is frozen.",
  POLICY_REJECTED: "Policy has refused it.",
  POST_ONLY_WOULD_CROSS: "It was not to take, and there was something to take.",
  FOK_NOT_FILLABLE: "It could not be filled as a whole.",
  NO_LIQUIDITY: "There was nothing to take.",
  QUOTE_LIMIT_TOO_LOW: "What it may spend does not buy the least that can be traded.",
  SELF_TRADE: "It met an order of the same tenant.",
  UNFILLED: "There was no more to take.",
  QUOTE_LIMIT: "What it may still spend does not buy the least that can be traded.",
  BOOK_FULL: "The book holds as much as it may.",
  MATCH_LIMIT: "It has met as many orders as one may: place another for the rest.",
  TOO_MANY_OPEN_ORDERS: "The tenant has as many orders open in this market as it may.",
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
      created_at: createdAt.toISOString(),
      updated_at: (step?.occurredAt ?? createdAt).toISOString(),
    };
  };
}

function presentFailure(code: OrderFailure, judgement: OrderJudgement | null): OrderBody["failure"] {
  if (code !== "POLICY_REJECTED" || judgement === null) return { code, message: orderFailureMessages[code] };
  return { code, message: judgement.reason ?? orderFailureMessages[code], rule: judgement.rule };
}
