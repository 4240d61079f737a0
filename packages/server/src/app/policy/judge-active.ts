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

type JudgedBy = Pick<ActivePolicy, "policy" | "guards">;

/** Judges without usage, by the policy in force and by its guards: the strictest verdict counts. */
export function judgeActive(active: JudgedBy, request: PolicyRequest): SpotVerdict {
  let verdict = judge(active.policy, request);
  for (const guard of guardsFor(active, request)) {
    if (verdict.kind === "reject") return verdict;
    const guarded = judge(guard, request);
    if (guarded.kind !== "allow") verdict = guarded;
  }
  return verdict;
}

export function windowsOfActive(active: JudgedBy, request: PolicyRequest): UsageWindow[] {
  const windows = neededWindows(active.policy, request);
  const guards = guardsFor(active, request);
  return guards.length === 0
    ? windows
    : [...windows, ...guards.flatMap((guard) => neededWindows(guard, request))];
}

export function judgeActiveWithUsage(
  active: JudgedBy,
  request: PolicyRequest,
  usage: UsageByWindow,
): Verdict {
  let { verdict } = judgeWithUsage(active.policy, request, usage);
  for (const guard of guardsFor(active, request))
    verdict = stricter(verdict, judgeWithUsage(guard, request, usage).verdict);
  return verdict;
}

/** By the time of the request, so that the response to it and the engine, which judges later, agree. */
function guardsFor({ guards }: JudgedBy, request: PolicyRequest): readonly CompiledPolicy[] {
  if (guards.length === 0 || request.destination !== "address") return [];
  return guards.filter(({ until }) => request.requestedAtMs < until.getTime()).map(({ policy }) => policy);
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
