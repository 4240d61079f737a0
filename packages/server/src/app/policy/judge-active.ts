import {
  type ApprovalRequirement,
  type CompiledPolicy,
  judge,
  judgeWithUsage,
  neededWindows,
  type PolicyRequest,
  type SpotVerdict,
  type UsageByWindow,
  type UsageWindow,
  type Verdict,
} from "@bursar/domain";
import type { ActivePolicy } from "./policy.js";

type JudgedBy = Pick<ActivePolicy, "policy" | "guard">;

/** Judges without usage, by the policy in force and by its guard: the stricter verdict counts. */
export function judgeActive(active: JudgedBy, request: PolicyRequest): SpotVerdict {
  const verdict = judge(active.policy, request);
  const guard = guardFor(active, request);
  if (guard === undefined || verdict.kind === "reject") return verdict;
  const guarded = judge(guard, request);
  return guarded.kind === "allow" ? verdict : guarded;
}

export function windowsOfActive(active: JudgedBy, request: PolicyRequest): UsageWindow[] {
  const guard = guardFor(active, request);
  const windows = neededWindows(active.policy, request);
  return guard === undefined ? windows : [...windows, ...neededWindows(guard, request)];
}

export function judgeActiveWithUsage(
  active: JudgedBy,
  request: PolicyRequest,
  usage: UsageByWindow,
): Verdict {
  const { verdict } = judgeWithUsage(active.policy, request, usage);
  const guard = guardFor(active, request);
  return guard === undefined ? verdict : stricter(verdict, judgeWithUsage(guard, request, usage).verdict);
}

/** By the time of the request, so that the response to it and the engine, which judges later, agree. */
function guardFor({ guard }: JudgedBy, request: PolicyRequest): CompiledPolicy | undefined {
  const applies = request.destination === "address" && guard !== null;
  return applies && request.requestedAtMs < guard.until.getTime() ? guard.policy : undefined;
}

function stricter(verdict: Verdict, guarded: Verdict): Verdict {
  if (verdict.kind === "reject" || guarded.kind === "allow") return verdict;
  if (guarded.kind === "reject" || verdict.kind === "allow") return guarded;
  return { ...verdict, requirement: bothOf(verdict.requirement, guarded.requirement) };
}

/** What satisfies both requirements. */
function bothOf(one: ApprovalRequirement, other: ApprovalRequirement): ApprovalRequirement {
  const { clientIds } = other;
  return {
    approvals: Math.max(one.approvals, other.approvals),
    clientIds:
      clientIds === null
        ? one.clientIds
        : (one.clientIds ?? clientIds).filter((id) => clientIds.includes(id)),
    expiresAfterSeconds: Math.min(one.expiresAfterSeconds, other.expiresAfterSeconds),
    ...(one.signed === true || other.signed === true ? { signed: true } : {}),
  };
}
