import {
  type CompiledPolicy,
  judgeWithUsage,
  neededWindows,
  type PolicyRequest,
  type TradedMarket,
  type Verdict,
} from "@bursar/domain";
import type { KnownWallet } from "../wallets/wallet.js";
import type { AcceptedOrder } from "./order.js";
import { orderHold, paidAsset } from "./order-hold.js";

/** What policy looks at in an order. */
export type JudgedOrder = Pick<
  AcceptedOrder,
  "tenantId" | "clientId" | "side" | "price" | "size" | "quoteSize" | "createdAt"
>;

/** An order as policy sees it: it gives away at most what is held for it, and what it receives stays with the tenant. */
export function toPolicyRequest(
  market: TradedMarket,
  order: JudgedOrder,
  wallet: KnownWallet,
): PolicyRequest {
  return {
    tenantId: order.tenantId,
    clientId: order.clientId,
    asset: paidAsset(market, order),
    amount: orderHold(market, order),
    network: wallet.network,
    sourceWalletId: wallet.id,
    sourcePurpose: wallet.purpose,
    destination: "own_wallet",
    requestedAtMs: order.createdAt.getTime(),
  };
}

/** What policy says of an order without knowing the past; undefined where it has to look at sums. */
export function judgeOnTheSpot(policy: CompiledPolicy, request: PolicyRequest): Verdict | undefined {
  if (neededWindows(policy, request).length > 0) return undefined;
  return judgeWithUsage(policy, request, new Map()).verdict;
}

/**
 * Why an order may not go ahead; null where it may. It cannot wait for people: by the time they agree the book is another one, and
 * whoever came later would be served before it. So a rule that asks for them refuses it.
 */
export function reasonToRefuse(verdict: Verdict): string | null {
  switch (verdict.kind) {
    case "allow":
      return null;
    case "reject":
      return verdict.reason;
    case "require_approval":
      return "This rule asks for approval, which an order cannot wait for.";
  }
}
