import type { ApprovalRequirement } from "./approvals.js";
import type { CompiledPolicy, CompiledRule, PolicyChanges, Verdict } from "./compiled-policy.js";
import { intersect, isWithin, type Region, regionOf } from "./region.js";

/** Whether a new policy is at least as strict as the old one for every request, and if not, why. */
export type PolicyComparison = { change: "tightens" } | { change: "loosens"; reasons: readonly string[] };

/** More reasons would not help the author. */
const reasonsMax = 20;
/** Comparing takes at most about 20 ms. What is not proven within this bound counts as loosening. */
const stepsMax = 200_000;

interface Placed {
  rule: CompiledRule;
  region: Region;
}

/**
 * Compares two policies conservatively: `tightens` is a proof that no request has a more lenient verdict than before, given the same
 * usage; `loosens` means that there is no such proof.
 *
 * A request that a new rule decides was decided by some old rule. The new rule must be at least as strict as each old rule that can share
 * such a request. They share none if their conditions exclude each other, or if everything that both match is matched by an earlier rule
 * of either policy, which then decides instead. Everything in the table of the tests follows from this.
 */
export function comparePolicies(
  before: CompiledPolicy,
  after: CompiledPolicy,
  within: Region = {},
): PolicyComparison {
  const place = (rules: readonly CompiledRule[]): Placed[] =>
    rules.flatMap((rule) => {
      const region = intersect(regionOf(rule.condition, rule.limits), within);
      return region === undefined ? [] : [{ rule, region }];
    });
  const [old, next] = [place(before.rules), place(after.rules)];
  const reasons = compareChanges(before.changes, after.changes);
  // Most pairs are excluded by one rule that contains the whole of another, which is found once for each rule.
  const coverOfOld = old.map(({ region }) => next.findIndex((rule) => isWithin(region, rule.region)));
  const coverOfNew = next.map(({ region }) => old.findIndex((rule) => isWithin(region, rule.region)));
  let stepsLeft = stepsMax;
  const isCovered = (shared: Region, rules: readonly Placed[], end: number): boolean => {
    for (let index = 0; index < end && stepsLeft > 0; index++, stepsLeft--)
      if (isWithin(shared, (rules[index] as Placed).region)) return true;
    return false;
  };
  for (const [newIndex, { rule: newRule, region: newRegion }] of next.entries()) {
    for (const [oldIndex, { rule: oldRule, region: oldRegion }] of old.entries()) {
      if (isAtLeastAsStrict(newRule.verdict, oldRule.verdict)) continue;
      if (isBefore(coverOfOld[oldIndex], newIndex) || isBefore(coverOfNew[newIndex], oldIndex)) continue;
      const shared = intersect(newRegion, oldRegion);
      if (shared === undefined) continue;
      if (isCovered(shared, old, oldIndex) || isCovered(shared, next, newIndex)) continue;
      reasons.push(describe(newRule.verdict, oldRule.verdict));
      if (reasons.length === reasonsMax || stepsLeft <= 0) return { change: "loosens", reasons };
    }
  }
  return reasons.length === 0 ? { change: "tightens" } : { change: "loosens", reasons };
}

function isBefore(index: number | undefined, end: number): boolean {
  return index !== undefined && index >= 0 && index < end;
}

/** Who must approve changes is not compared: a lower number can be looser, and a higher one can lock everybody out. */
function compareChanges(before: PolicyChanges | null, after: PolicyChanges | null): string[] {
  const isSame = before === null || JSON.stringify(before) === JSON.stringify(after);
  return isSame ? [] : ["`changes` is different or missing"];
}

/** Whether a verdict never allows more than the other: `allow`, then approvals, then `reject`. */
function isAtLeastAsStrict(verdict: Verdict, other: Verdict): boolean {
  if (verdict.kind === "reject" || other.kind === "allow") return true;
  if (verdict.kind === "allow" || other.kind === "reject") return false;
  return asksAtLeast(verdict.requirement, other.requirement);
}

/** As many approvals, of no other clients, in no more time, and signed if they had to be. */
function asksAtLeast(requirement: ApprovalRequirement, other: ApprovalRequirement): boolean {
  const { approvals, clientIds, expiresAfterSeconds, signed = false } = requirement;
  const isSubset =
    other.clientIds === null || clientIds?.every((id) => other.clientIds?.includes(id) === true) === true;
  return (
    approvals >= other.approvals &&
    isSubset &&
    expiresAfterSeconds <= other.expiresAfterSeconds &&
    (signed || other.signed !== true)
  );
}

function describe(verdict: Verdict, other: Verdict): string {
  return `${verdict.rule} (${verdict.kind}) can decide requests that ${other.rule} (${other.kind}) decides now`;
}
