import { planJudgement } from "../app/policy/plan-judgement.js";
import type { ActivePolicies } from "../app/policy/policy.js";
import type { Rail } from "../app/transactions/rail.js";
import type { BatchPlan, ClaimedTransaction } from "../app/transactions/settlement.js";
import { decideBatch, toPolicyRequest } from "./decide-batch.js";

export interface PlanBatchDeps {
  rails: ReadonlyMap<string, Rail>;
  policies: Pick<ActivePolicies, "peek" | "load">;
  now: () => number;
}

/** What a batch needs to know of policies and of the past, and how it is decided then. */
export function createBatchPlanner({ rails, policies, now }: PlanBatchDeps) {
  return async (claimed: readonly ClaimedTransaction[]): Promise<BatchPlan> => {
    const toJudge = claimed.filter(({ state, needsJudgement }) => state === "accepted" && needsJudgement);
    const { policies: active, windows } = await planJudgement(policies, toJudge.map(toPolicyRequest));
    return {
      now: new Date(now()),
      windows,
      // The time of the decision, when everything is locked: what happened before it has been seen.
      decide: (accounts, usage) =>
        decideBatch(claimed, { accounts, usage, rails, policies: active, now: new Date(now()) }),
    };
  };
}
