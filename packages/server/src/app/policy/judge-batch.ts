import type {
  JudgedRequirement,
  PolicyRequest,
  UsageByWindow,
  Verdict,
  WaitingVerdict,
} from "@bursar/domain";
import { judgeActiveWaiting, judgeActiveWithUsage, windowsOfActive } from "./judge-active.js";
import type { ActivePolicy, BatchPolicies } from "./policy.js";
import type { TenantWindow } from "./usage.js";

/** The data that must be loaded before a batch can be judged. */
export interface JudgementPlan {
  /** The policies of the tenants in the batch. */
  policies: ReadonlyMap<string, ActivePolicy>;
  /** Each once. */
  windows: readonly TenantWindow[];
}

/**
 * Finds the policies for a batch of requests and the usage windows that they test. An empty batch needs neither. What waits for approval is
 * judged again without usage.
 */
export async function planJudgement(
  policies: BatchPolicies,
  requests: readonly PolicyRequest[],
  waiting: readonly PolicyRequest[] = [],
): Promise<JudgementPlan> {
  const active = new Map<string, ActivePolicy>();
  const unknown: string[] = [];
  for (const tenantId of new Set([...requests, ...waiting].map((request) => request.tenantId))) {
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
  const active = plannedPolicy(policies, request);
  return { policyVersion: active.version, verdict: judgeActiveWithUsage(active, request, usage) };
}

/** Judges again what waits for approval, by the policy in force now. */
export function judgePlannedWaiting(
  policies: JudgementPlan["policies"],
  request: PolicyRequest,
  judged: JudgedRequirement & { policyVersion: number },
): { policyVersion: number; verdict: WaitingVerdict } {
  const active = plannedPolicy(policies, request);
  return { policyVersion: active.version, verdict: judgeActiveWaiting(active, request, judged) };
}

function plannedPolicy(policies: JudgementPlan["policies"], { tenantId }: PolicyRequest): ActivePolicy {
  const active = policies.get(tenantId);
  if (active === undefined) throw new Error(`the policy of the tenant ${tenantId} was not loaded`);
  return active;
}
