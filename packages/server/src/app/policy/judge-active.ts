import {
  bothRequirements,
  type CompiledPolicy,
  type JudgedRequirement,
  judge,
  judgeWaiting,
  judgeWithUsage,
  neededWindows,
  type PolicyRequest,
  type SpotVerdict,
  type UsageByWindow,
  type UsageWindow,
  type Verdict,
  type WaitingVerdict,
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

/** What waits for approval was judged before: the strictest of that, the policy in force and its guards counts. */
export function judgeActiveWaiting(
  active: ActivePolicy,
  request: PolicyRequest,
  judged: JudgedRequirement & { policyVersion: number },
): WaitingVerdict {
  let { requirement } = judged;
  if (judged.policyVersion === active.version) return { kind: "require_approval", requirement };
  for (const policy of [active.policy, ...guardsFor(active, request)]) {
    const verdict = judgeWaiting(policy, request, { rule: judged.rule, requirement });
    if (verdict.kind === "reject") return verdict;
    requirement = verdict.requirement;
  }
  return { kind: "require_approval", requirement };
}

/** By the time of the request, so that the response to it and the engine, which judges later, agree. */
function guardsFor({ guards }: JudgedBy, request: PolicyRequest): readonly CompiledPolicy[] {
  if (guards.length === 0 || request.destination !== "address") return [];
  return guards.filter(({ until }) => request.requestedAtMs < until.getTime()).map(({ policy }) => policy);
}

function stricter(verdict: Verdict, guarded: Verdict): Verdict {
  if (verdict.kind === "reject" || guarded.kind === "allow") return verdict;
  if (guarded.kind === "reject" || verdict.kind === "allow") return guarded;
  return { ...verdict, requirement: bothRequirements(verdict.requirement, guarded.requirement) };
}
