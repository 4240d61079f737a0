import type { ApprovalRequirement } from "./approvals/approvals.js";
import type { DestinationKind, RequestKind, UsageScope } from "./document/policy-document.js";
import type { HourOfDay } from "./hour-of-day.js";

/** The verdict on a transaction, and the rule that decided: `default` if none matched. */
export type Verdict =
  | { kind: "allow"; rule: string }
  | { kind: "reject"; rule: string; reason: string }
  | { kind: "require_approval"; rule: string; requirement: ApprovalRequirement };

/** The verdict without usage. `later` names the first rule that could decide; the engine evaluates it with usage. */
export type SpotVerdict = Exclude<Verdict, { kind: "require_approval" }> | { kind: "later"; rule: string };

/** A policy that is fast to evaluate. */
export interface CompiledPolicy {
  /** For each asset that a rule names, the rules that apply to it, in order. The last one is the default. */
  rulesByAsset: ReadonlyMap<string, readonly CompiledRule[]>;
  /** The rules for all other assets. */
  otherRules: readonly CompiledRule[];
  /** Every kind of window that a rule tests. If there is none, the policy needs no usage. */
  windows: readonly WindowKind[];
  /** All rules in order; the last one is the default. */
  rules: readonly CompiledRule[];
  /** Who must approve changes of the policy and of destinations; null if nobody. */
  changes: PolicyChanges | null;
}

/** The approvals that a change needs, and how long an approved change of the policy waits. */
export interface PolicyChanges {
  approvals: number;
  /** The UUIDs of the clients that may approve, in order; null means any protected client. */
  clientIds: readonly string[] | null;
  delaySeconds: number;
  coversPolicy: boolean;
  coversDestinations: boolean;
}

export interface CompiledRule {
  condition: Condition;
  limits: readonly UsageLimit[];
  onTheSpot: SpotVerdict;
  verdict: Verdict;
}

/**
 * The conditions of a rule; null matches everything. `kind` and `markets` are conditions like the others: a rule without them applies to
 * transactions and orders. Sums and counts are separate, in the rule's limits.
 */
export interface Condition {
  kind: RequestKind | null;
  /** Matches orders in these markets; never a transaction. */
  markets: ReadonlySet<string> | null;
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

/** The window that a rule sums over: a scope, an asset and a period. */
export interface WindowKind {
  per: UsageScope;
  /** Null counts transactions of all assets. */
  asset: string | null;
  periodSeconds: number;
}

/** Matches if the sum or the count, including the transaction itself, exceeds it. */
export interface UsageLimit extends WindowKind {
  measure: "sum" | "count";
  above: bigint;
}
