import type { WalletPurpose } from "../wallet/wallet-purpose.js";

/**
 * A tenant's policy as it is written and stored: plain JSON, with identifiers and amounts in their public form. Rules are tried in
 * order and the first that matches decides; where none does, the default decides.
 */
export interface PolicyDocument {
  rules: PolicyRule[];
  default: PolicyAction;
  /** Clients under a name, for rules that ask for approval. */
  groups?: Record<string, string[]>;
}

type PolicyRule = { name: string; when: PolicyCondition } & PolicyAction;

/** All members that are given must match, and a list matches with any of its items. Nothing given matches everything. */
interface PolicyCondition {
  assets?: string[];
  networks?: string[];
  /** Bounds that include themselves. An amount is in an asset, so the rule is for this asset alone. */
  amount?: { asset: string; min?: string; max?: string };
  source_wallets?: string[];
  source_purposes?: WalletPurpose[];
  destinations?: DestinationKind[];
  /** The clients that have asked for the transaction. */
  clients?: string[];
  /** From the first hour until before the second, over midnight where the second is not greater. */
  hours?: { from: number; to: number; time_zone: string };
  /** Matches where the sum over the period, this transaction included, is above the limit. */
  sum?: { asset: string; per: UsageScope; period_seconds: number; above: string };
  /** The same for the number of transactions; of one asset, or of all where none is named. */
  count?: { asset?: string; per: UsageScope; period_seconds: number; above: number };
}

type PolicyAction =
  | { action: "allow" }
  | { action: "reject"; reason: string }
  | {
      action: "require_approval";
      approvals: number;
      /** Left out: any client that may approve. */
      from?: { clients?: string[]; groups?: string[] };
      expires_after_seconds?: number;
    };

/** Where money goes: `address` in a rule is any address, and so also a listed one. */
export const destinationKinds = ["own_wallet", "other_wallet", "listed_address", "address"] as const;
export type DestinationKind = (typeof destinationKinds)[number];

/** Whose transactions a rolling sum adds up: those from the same wallet, by the same client, or all of the tenant. */
export const usageScopes = ["wallet", "client", "tenant"] as const;
export type UsageScope = (typeof usageScopes)[number];

export const policyActions = ["allow", "reject", "require_approval"] as const;

/** What the deciding rule is called where none has matched. No rule may have this name. */
export const defaultRuleName = "default";

/** The bounds of a document; the schema on the wire has them from here. */
export const policyLimits = {
  rulesMax: 200,
  itemsMax: 100,
  groupsMax: 20,
  namePattern: "^[a-z0-9-]{1,64}$",
  nameLengthMax: 64,
  textLengthMax: 128,
  amountLengthMax: 79,
  reasonLengthMax: 256,
  countMax: 1_000_000,
  /** Different sums and counts, each of a scope, an asset and a period: every one is looked up for every payment. */
  windowsMax: 50,
  periodSecondsMin: 60,
  periodSecondsMax: 90 * 86_400,
  approvalsMax: 10,
  expirySecondsMin: 60,
  expirySecondsMax: 30 * 86_400,
  expirySecondsDefault: 86_400,
} as const;
