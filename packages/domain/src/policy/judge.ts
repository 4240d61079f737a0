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

/** A sum or count that a verdict depended on. */
export interface Measurement {
  rule: string;
  limit: UsageLimit;
  window: UsageWindow;
  /** The usage of the window without and with this transaction. */
  before: bigint;
  including: bigint;
  isAbove: boolean;
}

export interface Judgement {
  verdict: Verdict;
  /** Of the rules that matched the transaction, up to the one that decided. */
  measurements: readonly Measurement[];
}

/**
 * Judges without usage. The first rule that matches the transaction decides; if it needs sums or requires approval, the verdict is
 * `later`. Any other verdict equals that of `judgeWithUsage`, whatever the usage. With 50 rules for all assets, none of which matches, it
 * takes 0.7 µs; with 50 rules for an asset each, 0.02 µs.
 */
export function judge(policy: CompiledPolicy, request: PolicyRequest): SpotVerdict {
  for (const rule of rulesFor(policy, request)) {
    if (matches(rule.condition, request)) return rule.onTheSpot;
  }
  throw new Error("the default matches everything");
}

/**
 * The distinct windows that the verdict on this request can depend on: those of the rules that match it, up to the first rule that decides
 * without usage. The windows of a whole batch can be loaded together.
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

/** Makes the final judgement, with the current usage of the needed windows. Each sum or count takes 0.8 µs. */
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

export function rulesFor(
  { rulesByAsset, otherRules }: CompiledPolicy,
  { asset }: PolicyRequest,
): readonly CompiledRule[] {
  return rulesByAsset.get(asset) ?? otherRules;
}

/** Tests everything except the asset, by which the rules were selected. */
export function matches(condition: Condition, request: PolicyRequest): boolean {
  const {
    kind,
    markets,
    networks,
    amountMin,
    amountMax,
    sourceWallets,
    sourcePurposes,
    destinations,
    clients,
    hours,
  } = condition;
  return (
    (kind === null || (kind === "order") === (request.market !== null)) &&
    (markets === null || (request.market !== null && markets.has(request.market))) &&
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
