import type { ApprovalRequirement } from "./approvals.js";
import type { HourOfDay } from "./hour-of-day.js";
import type { DestinationKind, UsageScope } from "./policy-document.js";

/** What policy says of a transaction, and which rule has said it: `default` where none matched. */
export type Verdict =
  | { kind: "allow"; rule: string }
  | { kind: "reject"; rule: string; reason: string }
  | { kind: "require_approval"; rule: string; requirement: ApprovalRequirement };

/** What can be said without sums. `later`: the named rule is the first that could decide, and only the engine can tell. */
export type SpotVerdict = Exclude<Verdict, { kind: "require_approval" }> | { kind: "later"; rule: string };

/** A policy in the form that is fast to judge by. */
export interface CompiledPolicy {
  /** For each asset that a rule names: the rules that are for it, in order, the last one being the default. */
  rulesByAsset: ReadonlyMap<string, readonly CompiledRule[]>;
  /** The rules for all other assets. */
  otherRules: readonly CompiledRule[];
  /** Every kind of window that a rule looks at. Where there is none, the policy needs to know nothing of the past. */
  windows: readonly WindowKind[];
}

export interface CompiledRule {
  condition: Condition;
  limits: readonly UsageLimit[];
  onTheSpot: SpotVerdict;
  verdict: Verdict;
}

/** What a transaction must be for a rule to be for it; null lets everything pass. Sums are apart, in the rule's limits. */
export interface Condition {
  assets: ReadonlySet<string> | null;
  networks: ReadonlySet<string> | null;
  amountMin: bigint | null;
  amountMax: bigint | null;
  sourceWallets: ReadonlySet<string> | null;
  sourcePurposes: ReadonlySet<string> | null;
  destinations: ReadonlySet<DestinationKind> | null;
  clients: ReadonlySet<string> | null;
  hours: { from: number; to: number; hourAt: HourOfDay } | null;
}

/** Over what a rule adds up: whose transactions, of which asset, for how long. */
export interface WindowKind {
  per: UsageScope;
  /** Null counts transactions of all assets. */
  asset: string | null;
  periodSeconds: number;
}

/** Matches where the sum or the count, the transaction itself included, is above it. */
export interface UsageLimit extends WindowKind {
  measure: "sum" | "count";
  above: bigint;
}
