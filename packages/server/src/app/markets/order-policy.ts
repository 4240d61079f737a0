import {
  type CompiledPolicy,
  judgeWithUsage,
  limitHold,
  neededWindows,
  type PolicyRequest,
  type TradedMarket,
  type Verdict,
} from "@bursar/domain";
import type { KnownWallet } from "../wallets/wallet.js";
import type { AcceptedOrder } from "./order.js";

/** The asset that an order pays: quote if it buys, base if it sells. */
export function paidAsset(market: TradedMarket, { side }: Pick<AcceptedOrder, "side">): string {
  return (side === "buy" ? market.quote : market.base).code;
}

/** What an order can cost at most: that is held for it, and policy judges it. */
function orderHold(
  { steps }: TradedMarket,
  { side, price, size, quoteSize }: Pick<AcceptedOrder, "side" | "price" | "size" | "quoteSize">,
): bigint {
  if (price !== null && size !== null) return limitHold(side, price, size, steps);
  if (quoteSize !== null) return quoteSize;
  if (side === "sell" && size !== null) return limitHold("sell", 1, size, steps);
  throw new Error("an order without a price sells a size or spends an amount");
}

/** What policy looks at in an order. */
export type JudgedOrder = Pick<
  AcceptedOrder,
  "tenantId" | "clientId" | "side" | "price" | "size" | "quoteSize" | "createdAt"
>;

/** An order as policy sees it: it pays at most what is held for it, to another tenant of the market. */
export function toPolicyRequest(
  market: TradedMarket,
  order: JudgedOrder,
  wallet: Omit<KnownWallet, "address">,
): PolicyRequest {
  return {
    market: market.name,
    tenantId: order.tenantId,
    clientId: order.clientId,
    asset: paidAsset(market, order),
    amount: orderHold(market, order),
    network: wallet.network,
    sourceWalletId: wallet.id,
    sourcePurpose: wallet.purpose,
    destination: "market",
    requestedAtMs: order.createdAt.getTime(),
  };
}

/** Judges an order without knowing the past. Undefined if policy looks at sums. */
export function judgeOnTheSpot(policy: CompiledPolicy, request: PolicyRequest): Verdict | undefined {
  if (neededWindows(policy, request).length > 0) return undefined;
  return judgeWithUsage(policy, request, new Map()).verdict;
}

/**
 * Why policy refuses an order; null if it does not. An order cannot wait for approvals: by then the book has changed and later orders
 * have been matched before it. So a rule that requires approvals refuses it.
 */
export function reasonToRefuse(verdict: Verdict): string | null {
  switch (verdict.kind) {
    case "allow":
      return null;
    case "reject":
      return verdict.reason;
    case "require_approval":
      return "This rule requires approval, which an order cannot wait for.";
  }
}
