import type { PolicyDocument } from "@bursar/domain";
import { actorOf, type Origin, tenantOf } from "../audit/audit-entry.js";
import type { ChangeRequest } from "../change-requests/change-request.js";
import type { ChangeRequestService } from "../change-requests/change-request-service.js";
import { describeReviewedAct } from "../clients/review-caller.js";
import { isRefused, type Refused } from "../requests/refused.js";
import type { PolicyChangePlanner } from "./plan-policy-change.js";
import type { PolicyStore, StoredPolicy } from "./policy.js";
import type { PrepareLimits } from "./prepare-limits.js";

export interface ReplacePolicyDeps {
  store: Pick<PolicyStore, "writePolicy">;
  planner: Pick<PolicyChangePlanner, "planReplacement">;
  prepareLimits: PrepareLimits;
  requestChange: ChangeRequestService["requestChange"];
  now: () => number;
}

export type ReplacePolicy = (
  origin: Origin,
  /** The version that the caller read last. */
  expectedVersion: number,
  document: unknown,
) => Promise<{ policy: StoredPolicy } | { changeRequest: ChangeRequest } | Refused>;

/**
 * Puts a new policy in force, unless it has been replaced since the client read it. If the policy in force names who approves changes, a
 * new policy that loosens it becomes a change request. The operator needs no approval: a tenant could otherwise be locked out.
 */
export function createPolicyReplacer({
  store,
  planner,
  prepareLimits,
  requestChange,
  now,
}: ReplacePolicyDeps): ReplacePolicy {
  return async (origin, expectedVersion, given) => {
    const tenantId = tenantOf(origin);
    const clientId = actorOf(origin);
    const createdAt = new Date(now());
    const replacement = { by: clientId, expectedVersion, document: given, path: "body" };
    const plan = await planner.planReplacement(tenantId, replacement, createdAt);
    if (isRefused(plan)) return plan;
    if (plan.requirement !== null && origin.by === "client") {
      const change = { expected_version: expectedVersion, document: given as PolicyDocument };
      const requested = await requestChange(origin, { kind: "policy.replace", change }, undefined);
      return isRefused(requested) ? requested : { changeRequest: requested.request };
    }
    const unprepared = await prepareLimits(tenantId, expectedVersion, plan.windows);
    if (unprepared !== undefined) return unprepared;
    const { document, guards, windows, namedBefore } = plan;
    const written = await store.writePolicy(
      tenantId,
      expectedVersion,
      { document, clientId, createdAt, guards, windows, namedBefore },
      describeReviewedAct(origin, "policy.replace", `policy/${expectedVersion + 1}`, createdAt),
    );
    return written === undefined ? { refused: "PRECONDITION_FAILED" } : { policy: written };
  };
}
