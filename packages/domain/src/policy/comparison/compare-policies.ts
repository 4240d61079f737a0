import type { ApprovalRequirement } from "../approvals/approvals.js";
import type { CompiledPolicy, CompiledRule, PolicyChanges, Verdict } from "../compiled-policy.js";
import { intersect, isWithin, type Region, regionOf, sizeOf } from "./region.js";

/** Whether a new policy is at least as strict as the old one for every request, and if not, why. */
export type PolicyComparison = { change: "tightens" } | { change: "loosens"; reasons: readonly string[] };

/** More reasons would not help the author. */
const reasonsMax = 20;
/**
 * What is not proven within this bound counts as loosening. A step is one item of a condition that is compared. So many take 5 to 15 ms of
 * CPU.
 */
const stepsMax = 300_000;
/** Intersecting allocates, so it takes as long as this number of steps. */
const intersectSteps = 10;

interface Placed {
  rule: CompiledRule;
  region: Region;
  size: number;
}

/**
 * Compares two policies conservatively: `tightens` is a proof that no request has a more lenient verdict than before, given the same
 * usage; `loosens` means that there is no such proof.
 *
 * A request that a new rule decides was decided by some old rule. The new rule must be at least as strict as each old rule that can share
 * such a request. They share none if their conditions exclude each other, or if everything that both match is matched by an earlier rule
 * of either policy, which then decides instead. Everything in the table of the tests follows from this.
 *
 * Transactions that wait are judged without sums and counts, of which only the one that had decided counts, by its name. So each rule with a
 * limit is compared once more as if it had none, beside the rules that have none.
 */
export function comparePolicies(
  before: CompiledPolicy,
  after: CompiledPolicy,
  within: Region = {},
): PolicyComparison {
  const slices = comparePoliciesInSlices(before, after, within);
  for (;;) {
    const { done, value } = slices.next();
    if (done === true) return value;
  }
}

/** The same, a few rules at a time, so that the caller can do other work in between. */
export function* comparePoliciesInSlices(
  before: CompiledPolicy,
  after: CompiledPolicy,
  within: Region = {},
): Generator<undefined, PolicyComparison, undefined> {
  const place = (rules: readonly CompiledRule[], isLimited: boolean): Placed[] =>
    rules.flatMap((rule) => {
      const region = intersect(regionOf(rule.condition, isLimited ? rule.limits : []), within);
      return region === undefined ? [] : [{ rule, region, size: sizeOf(region) }];
    });
  const reasons = compareChanges(before.changes, after.changes);
  yield* comparePlaced(place(before.rules, true), place(after.rules, true), reasons, { left: stepsMax });
  const [old, next] = [place(before.rules, false), place(after.rules, false)];
  const steps = { left: stepsMax };
  for (const name of new Set([...old, ...next].filter(hasLimit).map(nameOf))) {
    if (reasons.length >= reasonsMax) break;
    const waiting = (one: Placed) => !hasLimit(one) || nameOf(one) === name;
    yield* comparePlaced(old.filter(waiting), next.filter(waiting), reasons, steps, isOfLimit);
  }
  return reasons.length === 0 ? { change: "tightens" } : { change: "loosens", reasons };
}

const nameOf = ({ rule }: Placed) => rule.verdict.rule;
const hasLimit = ({ rule }: Placed) => rule.limits.length > 0;
const isOfLimit = (one: Placed, other: Placed) => hasLimit(one) || hasLimit(other);

/** Adds a reason for each pair of rules by which the new list can be more lenient than the old one. */
function* comparePlaced(
  old: readonly Placed[],
  next: readonly Placed[],
  reasons: string[],
  steps: { left: number },
  isCompared: (one: Placed, other: Placed) => boolean = () => true,
): Generator<undefined, void, undefined> {
  // Most pairs are excluded by one rule that contains the whole of another, which is found once for each rule.
  const coverOfOld = createCoverFinder(old, next, steps);
  const coverOfNew = createCoverFinder(next, old, steps);
  for (const [newIndex, newPlaced] of next.entries()) {
    yield;
    for (const [oldIndex, oldPlaced] of old.entries()) {
      steps.left -= 1;
      if (!isCompared(newPlaced, oldPlaced)) continue;
      const { rule: newRule, region: newRegion, size: newSize } = newPlaced;
      const { rule: oldRule, region: oldRegion, size: oldSize } = oldPlaced;
      if (isAtLeastAsStrict(newRule.verdict, oldRule.verdict)) continue;
      if (coverOfOld(oldIndex) < newIndex || coverOfNew(newIndex) < oldIndex) continue;
      const size = newSize + oldSize;
      steps.left -= size;
      const shared = intersect(newRegion, oldRegion);
      if (shared === undefined) continue;
      yield;
      steps.left -= intersectSteps;
      if (findCover(shared, size, old, oldIndex, steps) < oldIndex) continue;
      if (findCover(shared, size, next, newIndex, steps) < newIndex) continue;
      reasons.push(describe(newRule.verdict, oldRule.verdict));
      if (reasons.length === reasonsMax || steps.left <= 0) return;
    }
    if (steps.left <= 0) {
      reasons.push(tooLarge);
      return;
    }
  }
}

const tooLarge = "the policies are too large to be compared";

/** The first of the rules before `end` that contains the region; infinity if none is found within the steps that are left. */
function findCover(
  region: Region,
  size: number,
  rules: readonly Placed[],
  end: number,
  steps: { left: number },
): number {
  for (let index = 0; index < end && steps.left > 0; index++) {
    steps.left -= size;
    if (isWithin(region, (rules[index] as Placed).region)) return index;
  }
  return Number.POSITIVE_INFINITY;
}

/** Finds the first of the others that contains a whole rule, once for each rule. */
function createCoverFinder(rules: readonly Placed[], others: readonly Placed[], steps: { left: number }) {
  const found: number[] = [];
  return (index: number): number => {
    const { region, size } = rules[index] as Placed;
    found[index] ??= findCover(region, size, others, others.length, steps);
    return found[index];
  };
}

/** Who must approve changes is not compared: a lower number can be looser, and a higher one can lock everybody out. */
function compareChanges(before: PolicyChanges | null, after: PolicyChanges | null): string[] {
  return keepsChanges(before, after) ? [] : ["`changes` is different or missing"];
}

/** Whether `changes`, if there is one, stays as it is. */
export function keepsChanges(before: PolicyChanges | null, after: PolicyChanges | null): boolean {
  return before === null || JSON.stringify(before) === JSON.stringify(after);
}

/** Whether a verdict never allows more than the other: `allow`, then approvals, then `reject`. */
function isAtLeastAsStrict(verdict: Verdict, other: Verdict): boolean {
  if (verdict.kind === "reject" || other.kind === "allow") return true;
  if (verdict.kind === "allow" || other.kind === "reject") return false;
  return asksAtLeast(verdict.requirement, other.requirement);
}

/**
 * As many approvals, of the same clients, in no more time, and signed or by people if they had to be. Fewer clients could approve less, but
 * could also reject less.
 */
function asksAtLeast(requirement: ApprovalRequirement, other: ApprovalRequirement): boolean {
  const { approvals, clientIds, expiresAfterSeconds, signed = false, people = false } = requirement;
  const areSame = JSON.stringify(clientIds) === JSON.stringify(other.clientIds);
  return (
    approvals >= other.approvals &&
    areSame &&
    expiresAfterSeconds <= other.expiresAfterSeconds &&
    (signed || other.signed !== true) &&
    (people || other.people !== true)
  );
}

function describe(verdict: Verdict, other: Verdict): string {
  return `${verdict.rule} (${verdict.kind}) can decide requests that ${other.rule} (${other.kind}) decides now`;
}
