import {
  type AccountKey,
  accountName,
  applyInPlace,
  type Book,
  boundOrder,
  centreOf,
  countTransaction,
  type MarketPrices,
  type OpenOrder,
  type PolicyRequest,
  type PriceBand,
  priceRange,
  type TradedMarket,
  type UsageByWindow,
} from "@bursar/domain";
import type { Balances } from "../app/ledger/ledger-unit.js";
import type { Admission, ClaimedOrder, MarketCommand, NewCommand } from "../app/markets/market-store.js";
import type { OrderFailure, OrderJudgement } from "../app/markets/order.js";
import { paidAsset, reasonToRefuse, toPolicyRequest } from "../app/markets/order-policy.js";
import { judgePlanned } from "../app/policy/judge-batch.js";
import type { ActivePolicy } from "../app/policy/policy.js";

/** How many orders each tenant has in a market: those that rest, and those whose commands wait for the book. */
export interface OpenOrderCounts {
  of: (tenantId: string) => number;
  add: (tenantId: string) => void;
  remove: (tenantId: string) => void;
}

export function countOpenOrders(
  resting: readonly Pick<OpenOrder, "owner">[],
  waiting: readonly Pick<MarketCommand, "kind" | "tenantId">[],
): OpenOrderCounts {
  const counts = new Map<string, number>();
  const change = (tenantId: string, by: number) => {
    const count = (counts.get(tenantId) ?? 0) + by;
    if (count === 0) counts.delete(tenantId);
    else counts.set(tenantId, count);
  };
  for (const { owner: tenantId } of resting) change(tenantId, 1);
  for (const { kind, tenantId } of waiting) if (kind === "place") change(tenantId, 1);
  return {
    of: (tenantId) => counts.get(tenantId) ?? 0,
    add: (tenantId) => change(tenantId, 1),
    remove: (tenantId) => change(tenantId, -1),
  };
}

/** What policy still has to judge of claimed orders. */
export function requestsToJudge(market: TradedMarket, claimed: readonly ClaimedOrder[]): PolicyRequest[] {
  return claimed
    .filter(({ number, needsJudgement }) => number === null && needsJudgement)
    .map((order) => toPolicyRequest(market, order, order.wallet));
}

/** The accounts that new orders hold funds in. */
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
  balances: Balances;
  usage: UsageByWindow;
  /** The policies of the tenants that have something to be judged. */
  policies: ReadonlyMap<string, ActivePolicy>;
  /** How many orders each tenant has here already, and may have. */
  open: Pick<OpenOrderCounts, "of">;
  openOrdersMax: number;
  /** The price band, and the best prices of the book before this batch. */
  prices: MarketPrices;
  occurredAt: Date;
}

/**
 * Judges new orders and holds their funds, one after the other, and makes commands of what clients ask for. Each order sees the sums
 * and balances that the one before has left. What an order receives counts from the commit of its trade on, not within the batch.
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
      const outcome = isTooMany ? "TOO_MANY_OPEN_ORDERS" : admit(order, request, judgement, facts);
      if (typeof outcome === "string") {
        rejected.push({ order, failure: outcome });
        continue;
      }
      const { asset, amount } = request;
      holds.set(orderId, amount);
      admitted.set(tenantId, (admitted.get(tenantId) ?? 0) + 1);
      counted.push({ tenantId, clientId, walletId: order.wallet.id, asset, amount, at: occurredAt });
      const { content } = order;
      commands.push({
        kind: "place",
        tenantId,
        orderId,
        actorId: null,
        order,
        content,
        held: amount,
        ...outcome,
      });
    }
    const actorId = order.changeRequestedBy;
    if (order.cancelRequested) commands.push({ kind: "cancel", tenantId, orderId, actorId });
    else if (order.amendSize !== null)
      commands.push({ kind: "amend", tenantId, orderId, actorId, size: order.amendSize });
  }
  return { occurredAt, commands, holds, rejected, judged, counted };
}

function mayRest({ timeInForce }: ClaimedOrder): boolean {
  return timeInForce === "gtc" || timeInForce === "post_only";
}

/** Null if nothing is left to judge: policy has allowed it when it was accepted, or it fails anyway. */
function judge(
  { needsJudgement, wallet, isHeld }: ClaimedOrder,
  request: PolicyRequest,
  { policies, usage }: AdmissionFacts,
): OrderJudgement | null {
  if (!needsJudgement || wallet.isFrozen || isHeld) return null;
  const { policyVersion, verdict } = judgePlanned(policies, request, usage);
  return { policyVersion, rule: verdict.rule, reason: reasonToRefuse(verdict) };
}

/** Holds what the order can cost at most, counts it, and returns its price limit; or returns why not. */
function admit(
  order: ClaimedOrder,
  request: PolicyRequest,
  judgement: OrderJudgement | null,
  { balances, usage, policies, prices }: AdmissionFacts,
): OrderFailure | { priceLimit: number | null } {
  const { tenantId, wallet, isHeld } = order;
  if (isHeld) return "CLIENT_DISABLED";
  if (wallet.isFrozen) return "WALLET_FROZEN";
  if (judgement !== null && judgement.reason !== null) return "POLICY_REJECTED";
  const bound = boundOrder(order, prices);
  if (bound === "out_of_band") return "PRICE_OUT_OF_BAND";
  const { asset, amount } = request;
  const hold = { tenantId, account: wallet.id, asset, amount };
  if (applyInPlace(balances, { releases: [], postings: [], holds: [hold] }) !== undefined)
    return "INSUFFICIENT_FUNDS";
  const policy = policies.get(tenantId)?.policy;
  if (policy !== undefined) countTransaction(policy, request, usage);
  return bound;
}

/** Orders are admitted when no command waits, so the book and the band are those of the last command. */
export function pricesOf(
  { definition }: TradedMarket,
  { book, band }: { book: Book; band: PriceBand },
): MarketPrices {
  const { bids, asks } = book.depth(1);
  return {
    range: priceRange(centreOf(band), definition.priceBandBasisPoints),
    bestBid: bids[0]?.price,
    bestAsk: asks[0]?.price,
    slippageBasisPoints: definition.slippageBasisPoints,
  };
}
