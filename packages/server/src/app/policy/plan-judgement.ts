import { neededWindows, type PolicyRequest } from "@bursar/domain";
import type { ActivePolicies, ActivePolicy } from "./policy.js";
import type { TenantWindow } from "./usage.js";

/** What must be known before a batch can be judged. */
export interface JudgementPlan {
  /** The policies of the tenants that have something to be judged. */
  policies: ReadonlyMap<string, ActivePolicy>;
  /** Each once. */
  windows: readonly TenantWindow[];
}

/** Finds the policies that requests are to be judged by, and what these look at. Without something to judge: nothing. */
export async function planJudgement(
  policies: Pick<ActivePolicies, "peek" | "load">,
  requests: readonly PolicyRequest[],
): Promise<JudgementPlan> {
  const active = new Map<string, ActivePolicy>();
  for (const tenantId of new Set(requests.map((request) => request.tenantId)))
    active.set(tenantId, policies.peek(tenantId) ?? (await policies.load(tenantId)));
  const windows = requests.flatMap((request) => {
    const { tenantId } = request;
    const { policy } = active.get(tenantId) as ActivePolicy;
    return neededWindows(policy, request).map((window) => ({ tenantId, window }));
  });
  return {
    policies: active,
    windows: [...new Map(windows.map((entry) => [entry.window.key, entry])).values()],
  };
}
