import type { PolicyRequest, UsageByWindow, Verdict } from "@bursar/domain";
import { judgeActiveWithUsage, windowsOfActive } from "./judge-active.js";
import type { ActivePolicy, BatchPolicies } from "./policy.js";
import type { TenantWindow } from "./usage.js";

/** The data that must be loaded before a batch can be judged. */
export interface JudgementPlan {
  /** The policies of the tenants in the batch. */
  policies: ReadonlyMap<string, ActivePolicy>;
  /** Each once. */
  windows: readonly TenantWindow[];
}

/** Finds the policies for a batch of requests and the usage windows that they test. An empty batch needs neither. */
export async function planJudgement(
  policies: BatchPolicies,
  requests: readonly PolicyRequest[],
): Promise<JudgementPlan> {
  const active = new Map<string, ActivePolicy>();
  const unknown: string[] = [];
  for (const tenantId of new Set(requests.map((request) => request.tenantId))) {
    const cached = policies.peek(tenantId);
    if (cached === undefined) unknown.push(tenantId);
    else active.set(tenantId, cached);
  }
  // Together, because the rows of the batch are locked meanwhile.
  if (unknown.length > 0)
    for (const [tenantId, policy] of await policies.loadAll(unknown)) active.set(tenantId, policy);
  const windows = requests.flatMap((request) => {
    const { tenantId } = request;
    return windowsOfActive(active.get(tenantId) as ActivePolicy, request).map((window) => ({
      tenantId,
      window,
    }));
  });
  return {
    policies: active,
    windows: [...new Map(windows.map((entry) => [entry.window.key, entry])).values()],
  };
}

/** Judges one request of a planned batch against the current usage. */
export function judgePlanned(
  policies: JudgementPlan["policies"],
  request: PolicyRequest,
  usage: UsageByWindow,
): { policyVersion: number; verdict: Verdict } {
  const active = policies.get(request.tenantId);
  if (active === undefined) throw new Error(`the policy of the tenant ${request.tenantId} was not loaded`);
  return { policyVersion: active.version, verdict: judgeActiveWithUsage(active, request, usage) };
}
