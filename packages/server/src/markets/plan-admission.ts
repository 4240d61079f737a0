import type { TradedMarket } from "@bursar/domain";
import type { AdmissionPlan, ClaimedOrder } from "../app/markets/market-store.js";
import { toPolicyRequest } from "../app/markets/order-policy.js";
import { planJudgement } from "../app/policy/judge-batch.js";
import type { ActivePolicies } from "../app/policy/policy.js";
import { accountsOfOrders, admitOrders } from "./admit-orders.js";
import type { OpenOrderCounts } from "./open-order-counts.js";

export interface AdmissionPlannerDeps {
  market: TradedMarket;
  policies: Pick<ActivePolicies, "peek" | "load">;
  open: Pick<OpenOrderCounts, "of">;
  openOrdersMax: number;
  /** The time, and not before this one. */
  tick: (atLeastMs: number) => Date;
}

/** What the admission of orders needs to know of accounts, policies and the past, and how it is decided then. */
export function createAdmissionPlanner({
  market,
  policies,
  open,
  openOrdersMax,
  tick,
}: AdmissionPlannerDeps) {
  return async (claimed: readonly ClaimedOrder[]): Promise<AdmissionPlan> => {
    const toJudge = claimed.filter(({ number, needsJudgement }) => number === null && needsJudgement);
    const requests = toJudge.map((order) => toPolicyRequest(market, order, order.wallet));
    const { policies: active, windows } = await planJudgement(policies, requests);
    const acceptedMs = Math.max(...claimed.map(({ createdAt }) => createdAt.getTime()));
    return {
      accounts: accountsOfOrders(market, claimed),
      now: tick(acceptedMs),
      windows,
      // The time of the decision, when everything is locked: what happened before it has been seen.
      decide: (accounts, usage) =>
        admitOrders(claimed, {
          market,
          accounts,
          usage,
          policies: active,
          open,
          openOrdersMax,
          occurredAt: tick(acceptedMs),
        }),
    };
  };
}
