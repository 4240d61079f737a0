import {
  type AccountKey,
  accountName,
  countTransaction,
  type PolicyRequest,
  type TradedMarket,
  type UsageByWindow,
} from "@bursar/domain";
import type { Balances } from "../app/ledger/ledger-unit.js";
import type { Admission, ClaimedOrder, NewCommand } from "../app/markets/market-store.js";
import type { OrderFailure, OrderJudgement } from "../app/markets/order.js";
import { paidAsset } from "../app/markets/order-hold.js";
import { reasonToRefuse, toPolicyRequest } from "../app/markets/order-policy.js";
import { judgePlanned } from "../app/policy/judge-batch.js";
import type { ActivePolicy } from "../app/policy/policy.js";
import type { OpenOrderCounts } from "./open-order-counts.js";

/** The accounts that new orders set something aside in. */
export function accountsOfOrders(market: TradedMarket, claimed: readonly ClaimedOrder[]): AccountKey[] {
  const keys = new Map<string, AccountKey>();
  for (const order of claimed) {
    if (order.number !== null) continue;
    const { tenantId, wallet } = order;
    const key = { tenantId, accountId: wallet.id, asset: paidAsset(market, order) };
    keys.set(accountName(key), key);
  }
  return [...keys.values()];
}

export interface AdmissionFacts {
  market: TradedMarket;
  accounts: Balances;
  usage: UsageByWindow;
  /** The policies of the tenants that have something to be judged. */
  policies: ReadonlyMap<string, ActivePolicy>;
  /** How many orders each tenant has here already, and may have. */
  open: Pick<OpenOrderCounts, "of">;
  openOrdersMax: number;
  occurredAt: Date;
}

/**
 * Judges new orders, holds their funds, one after the other, and makes commands of what is asked for. Each sees the sums and balances
 * that the one before has left. What an order receives counts from the commit of its trade on, not within the batch.
 */
export function admitOrders(claimed: readonly ClaimedOrder[], facts: AdmissionFacts): Admission {
  const { market, occurredAt } = facts;
  const commands: NewCommand[] = [];
  const holds = new Map<string, bigint>();
  const rejected: Admission["rejected"][number][] = [];
  const judged: Admission["judged"][number][] = [];
  const counted: Admission["counted"][number][] = [];
  const admitted = new Map<string, number>();
  for (const order of claimed) {
    const { tenantId, clientId, id: orderId } = order;
    if (order.number === null) {
      const request = toPolicyRequest(market, order, order.wallet);
      const judgement = judge(order, request, facts);
      if (judgement !== null) judged.push({ order, judgement });
      const openCount = facts.open.of(tenantId) + (admitted.get(tenantId) ?? 0);
      const isTooMany = mayRest(order) && openCount >= facts.openOrdersMax;
      const failure = isTooMany ? "TOO_MANY_OPEN_ORDERS" : letPass(order, request, judgement, facts);
      if (failure !== null) {
        rejected.push({ order, failure });
        continue;
      }
      const { asset, amount } = request;
      holds.set(orderId, amount);
      admitted.set(tenantId, (admitted.get(tenantId) ?? 0) + 1);
      counted.push({ tenantId, clientId, walletId: order.wallet.id, asset, amount, at: occurredAt });
      commands.push({ kind: "place", tenantId, orderId, order });
    }
    if (order.cancelRequested) commands.push({ kind: "cancel", tenantId, orderId });
    else if (order.amendSize !== null)
      commands.push({ kind: "amend", tenantId, orderId, size: order.amendSize });
  }
  return { occurredAt, commands, holds, rejected, judged, counted };
}

function mayRest({ timeInForce }: ClaimedOrder): boolean {
  return timeInForce === "gtc" || timeInForce === "post_only";
}

/** Null where nothing is left to judge: policy was done with it on the spot, or it fails anyway. */
function judge(
  { needsJudgement, wallet }: ClaimedOrder,
  request: PolicyRequest,
  { policies, usage }: AdmissionFacts,
): OrderJudgement | null {
  if (!needsJudgement || wallet.isFrozen) return null;
  const { policyVersion, verdict } = judgePlanned(policies, request, usage);
  return { policyVersion, rule: verdict.rule, reason: reasonToRefuse(verdict) };
}

/** Sets aside what the order can cost at most and counts it, or says why not. */
function letPass(
  { tenantId, wallet }: ClaimedOrder,
  request: PolicyRequest,
  judgement: OrderJudgement | null,
  { accounts, usage, policies }: AdmissionFacts,
): OrderFailure | null {
  if (wallet.isFrozen) return "WALLET_FROZEN";
  if (judgement !== null && judgement.reason !== null) return "POLICY_REJECTED";
  const { asset, amount } = request;
  const name = accountName({ tenantId, accountId: wallet.id, asset });
  const balance = accounts.get(name);
  if (balance === undefined) throw new Error("an account was not locked");
  if (balance.available < amount) return "INSUFFICIENT_FUNDS";
  accounts.set(name, { available: balance.available - amount, held: balance.held + amount });
  const policy = policies.get(tenantId)?.policy;
  if (policy !== undefined) countTransaction(policy, request, usage);
  return null;
}
