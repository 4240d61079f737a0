import { type ApprovalRequirement, bothRequirements } from "./approvals/approvals.js";
import type { CompiledPolicy, Verdict } from "./compiled-policy.js";
import { matches, rulesFor } from "./judge.js";
import type { PolicyRequest } from "./policy-request.js";

/** What a transaction was found to require when it was judged, and the rule that decided. */
export interface JudgedRequirement {
  requirement: ApprovalRequirement;
  rule: string;
}

export type WaitingVerdict =
  | Extract<Verdict, { kind: "reject" }>
  | { kind: "require_approval"; requirement: ApprovalRequirement };

/**
 * Judges a transaction that waits for approval by a policy that was put in force since. The stricter of both counts: a policy that rejects it
 * ends it, and a policy that requires approvals can only add to what it was found to require. One that was loosened changes nothing.
 *
 * Sums were tested when it was judged and include it since, so they are not tested again. A rule with a sum or a count decides only if it is
 * the one that had decided, by its name. Any other one might: if it requires approvals, only the clients that it names may still approve.
 * It never adds to those that the rule names which decides without it, or a rule whose limit is never reached could bring an approver back
 * whom the policy has removed; if the two have nobody in common, those of the latter may.
 */
export function judgeWaiting(
  policy: CompiledPolicy,
  request: PolicyRequest,
  judged: JudgedRequirement,
): WaitingVerdict {
  const possible: ApprovalRequirement[] = [];
  for (const { condition, limits, verdict } of rulesFor(policy, request)) {
    if (!matches(condition, request)) continue;
    if (verdict.rule === judged.rule) return tighten(judged.requirement, verdict, []);
    if (limits.length === 0) return tighten(judged.requirement, verdict, possible);
    if (verdict.kind === "require_approval") possible.push(verdict.requirement);
  }
  throw new Error("the default matches everything");
}

function tighten(
  requirement: ApprovalRequirement,
  verdict: Verdict,
  possible: readonly ApprovalRequirement[],
): WaitingVerdict {
  if (verdict.kind === "reject") return verdict;
  const decided = verdict.kind === "allow" ? requirement : bothRequirements(requirement, verdict.requirement);
  if (possible.length === 0) return { kind: "require_approval", requirement: decided };
  const { clientIds } = bothRequirements(decided, { ...decided, clientIds: namedByAny(possible) });
  const isNobody = verdict.kind === "require_approval" && clientIds?.length === 0;
  return { kind: "require_approval", requirement: isNobody ? decided : { ...decided, clientIds } };
}

function namedByAny(requirements: readonly ApprovalRequirement[]): readonly string[] | null {
  const lists = requirements.map(({ clientIds }) => clientIds);
  return lists.includes(null) ? null : [...new Set(lists.flatMap((ids) => ids ?? []))];
}
