import type {
  CompiledPolicy,
  CompiledRule,
  Condition,
  SpotVerdict,
  UsageLimit,
  Verdict,
} from "./compiled-policy.js";
import type { PolicyRequest } from "./policy-request.js";
import { type Usage, type UsageWindow, windowOf } from "./usage.js";

/** A sum or count that a judgement has looked at. */
export interface Measurement {
  rule: string;
  limit: UsageLimit;
  window: UsageWindow;
  /** What the window held, and what it would hold with this transaction. */
  before: bigint;
  including: bigint;
  isAbove: boolean;
}

export interface Judgement {
  verdict: Verdict;
  /** Of the rules that were for the transaction, up to the one that has decided. */
  measurements: readonly Measurement[];
}

/**
 * Judges without knowing the past. The first rule that is for the transaction decides, or says `later` where it needs sums or asks
 * for approval. What is decided here is what `judgeWithUsage` decides too, whatever the sums. 50 rules for all assets, none of which
 * matches: 0.7 µs; 50 rules each for an asset of its own: 0.02 µs.
 */
export function judge(policy: CompiledPolicy, request: PolicyRequest): SpotVerdict {
  for (const rule of rulesFor(policy, request)) {
    if (matches(rule.condition, request)) return rule.onTheSpot;
  }
  throw new Error("the default matches everything");
}

/**
 * The windows that the judgement of this request could look at, each once: those of the rules that are for it, up to the first that
 * decides without. Those of a whole batch can be loaded together.
 */
export function neededWindows(policy: CompiledPolicy, request: PolicyRequest): UsageWindow[] {
  const windows = new Map<string, UsageWindow>();
  for (const rule of rulesFor(policy, request)) {
    if (!matches(rule.condition, request)) continue;
    if (rule.limits.length === 0) break;
    for (const limit of rule.limits) {
      const window = windowOf(limit, request);
      windows.set(window.key, window);
    }
  }
  return [...windows.values()];
}

/** Judges for good, with what the needed windows hold at this moment. Each sum or count that is looked at costs 0.8 µs. */
export function judgeWithUsage(
  policy: CompiledPolicy,
  request: PolicyRequest,
  usage: ReadonlyMap<string, Usage>,
): Judgement {
  const measurements: Measurement[] = [];
  for (const rule of rulesFor(policy, request)) {
    if (!matches(rule.condition, request)) continue;
    const own = rule.limits.map((limit) => measure(rule.verdict.rule, limit, request, usage));
    measurements.push(...own);
    if (own.every(({ isAbove }) => isAbove)) return { verdict: rule.verdict, measurements };
  }
  throw new Error("the default matches everything");
}

function rulesFor(
  { rulesByAsset, otherRules }: CompiledPolicy,
  { asset }: PolicyRequest,
): readonly CompiledRule[] {
  return rulesByAsset.get(asset) ?? otherRules;
}

/** Everything but the asset, by which the rules have been chosen. */
function matches(condition: Condition, request: PolicyRequest): boolean {
  const { networks, amountMin, amountMax, sourceWallets, sourcePurposes, destinations, clients, hours } =
    condition;
  return (
    (destinations === null || destinations.has(request.destination)) &&
    (clients === null || clients.has(request.clientId)) &&
    (sourceWallets === null || sourceWallets.has(request.sourceWalletId)) &&
    (sourcePurposes === null || sourcePurposes.has(request.sourcePurpose)) &&
    (networks === null || networks.has(request.network)) &&
    (amountMin === null || request.amount >= amountMin) &&
    (amountMax === null || request.amount <= amountMax) &&
    (hours === null || isWithin(hours, request.requestedAtMs))
  );
}

function isWithin({ from, to, hourAt }: NonNullable<Condition["hours"]>, timeMs: number): boolean {
  const hour = hourAt(timeMs);
  return from < to ? hour >= from && hour < to : hour >= from || hour < to;
}

function measure(
  rule: string,
  limit: UsageLimit,
  request: PolicyRequest,
  usage: ReadonlyMap<string, Usage>,
): Measurement {
  const window = windowOf(limit, request);
  const held = usage.get(window.key);
  if (held === undefined) throw new Error(`the window ${window.key} was not loaded`);
  const before = limit.measure === "sum" ? held.sum : held.count;
  const including = before + (limit.measure === "sum" ? request.amount : 1n);
  return { rule, limit, window, before, including, isAbove: including > limit.above };
}
