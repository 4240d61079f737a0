import { neededWindows } from "@bursar/domain";
import type { ActivePolicies, ActivePolicy } from "../app/policy/policy.js";
import type { Rail } from "../app/transactions/rail.js";
import type { BatchPlan, ClaimedTransaction } from "../app/transactions/settlement.js";
import { decideBatch, toPolicyRequest } from "./decide-batch.js";

export interface PlanBatchDeps {
  rails: ReadonlyMap<string, Rail>;
  policies: Pick<ActivePolicies, "peek" | "load">;
  nowMs: () => number;
}

/** What a batch needs to know of policies and of the past, and how it is decided then. Without something to judge: nothing. */
export function createBatchPlanner({ rails, policies, nowMs }: PlanBatchDeps) {
  return async (claimed: readonly ClaimedTransaction[]): Promise<BatchPlan> => {
    const toJudge = claimed.filter(({ state, needsJudgement }) => state === "accepted" && needsJudgement);
    const active = new Map<string, ActivePolicy>();
    for (const tenantId of new Set(toJudge.map((transaction) => transaction.tenantId)))
      active.set(tenantId, policies.peek(tenantId) ?? (await policies.load(tenantId)));
    const windows = toJudge.flatMap((transaction) => {
      const { tenantId } = transaction;
      const { policy } = active.get(tenantId) as ActivePolicy;
      return neededWindows(policy, toPolicyRequest(transaction)).map((window) => ({ tenantId, window }));
    });
    return {
      now: new Date(nowMs()),
      windows: [...new Map(windows.map((entry) => [entry.window.key, entry])).values()],
      // The time of the decision, when everything is locked: what happened before it has been seen.
      decide: (accounts, usage) =>
        decideBatch(claimed, { accounts, usage, rails, policies: active, now: new Date(nowMs()) }),
    };
  };
}
