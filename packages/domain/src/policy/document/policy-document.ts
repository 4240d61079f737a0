import type { WalletPurpose } from "../../wallet/wallet-purpose.js";

/**
 * A tenant's policy as it is sent and stored: plain JSON, with identifiers and amounts in their public form. Rules are tested in order and
 * the first that matches decides. If none matches, the default decides.
 */
export interface PolicyDocument {
  rules: PolicyRule[];
  default: PolicyAction;
  /** Named groups of clients, for rules that require approval. */
  groups?: Record<string, string[]>;
  /** Who must approve changes of the policy and of destinations. */
  changes?: {
    approvals: number;
    /** If absent, any protected client that is independent of the requester may approve. */
    from?: { clients?: string[]; groups?: string[] };
    /** Whether changes that loosen the policy need approval; true if absent. */
    policy?: boolean;
    /** Whether adding and removing destinations needs approval; true if absent. */
    destinations?: boolean;
    /** How long an approved change that loosens the policy waits before it takes effect. */
    delay_seconds?: number;
  };
}

type PolicyRule = { name: string; when: PolicyCondition } & PolicyAction;

/** All given members must match. A list matches if any of its items does. An empty condition matches everything. */
interface PolicyCondition {
  /** If absent, both. */
  kind?: RequestKind;
  /** The markets of orders, so that the rule applies to orders only. */
  markets?: string[];
  assets?: string[];
  networks?: string[];
  /** Inclusive bounds. They are in an asset, so the rule applies to this asset only. */
  amount?: { asset: string; min?: string; max?: string };
  source_wallets?: string[];
  source_purposes?: WalletPurpose[];
  destinations?: DestinationKind[];
  /** The clients that created the transaction. */
  clients?: string[];
  /** From the first hour until before the second; across midnight if the second is not greater. */
  hours?: { from: number; to: number; time_zone: string };
  /** Matches if the sum over the period, including this transaction, exceeds the limit. */
  sum?: { asset: string; per: UsageScope; period_seconds: number; above: string };
  /** The same for the number of transactions, of one asset or, if none is named, of all. */
  count?: { asset?: string; per: UsageScope; period_seconds: number; above: number };
}

type PolicyAction =
  | { action: "allow" }
  | { action: "reject"; reason: string }
  | {
      action: "require_approval";
      approvals: number;
      /** If absent, any client with the scope may approve. */
      from?: { clients?: string[]; groups?: string[] };
      expires_after_seconds?: number;
      /** Whether an approval must be signed with an Ed25519 key of the approver. */
      signed?: boolean;
      /** Whether only people approve, and no programs. */
      people?: boolean;
    };

/** What is judged. An order pays another tenant, at a price that the client chooses. */
export const requestKinds = ["transaction", "order"] as const;
export type RequestKind = (typeof requestKinds)[number];

/**
 * The kind of destination. In a rule, `address` matches any address, including one on the allow-list. `market` is the destination of
 * every order and of nothing else: what an order pays goes to another tenant.
 */
export const destinationKinds = [
  "own_wallet",
  "other_wallet",
  "listed_address",
  "address",
  "market",
] as const;
export type DestinationKind = (typeof destinationKinds)[number];

/** The scope of a rolling sum: transactions from the same wallet, by the same client, or all of the tenant. */
export const usageScopes = ["wallet", "client", "tenant"] as const;
export type UsageScope = (typeof usageScopes)[number];

export const policyActions = ["allow", "reject", "require_approval"] as const;

/** The name of the deciding rule if none matched. No rule may have this name. */
export const defaultRuleName = "default";

/** The limits of a document; the wire schema uses them too. */
export const policyLimits = {
  rulesMax: 200,
  itemsMax: 100,
  groupsMax: 20,
  /** Items of all lists together, as `countReferences` counts them. */
  referencesMax: 2000,
  /** The largest document: 200 rules with a sum, a count, amounts and a reason, and 2000 references. */
  documentBytesMax: 262_144,
  namePattern: "^[a-z0-9-]{1,64}$",
  nameLengthMax: 64,
  textLengthMax: 128,
  amountLengthMax: 79,
  reasonLengthMax: 256,
  countMax: 1_000_000,
  /** Distinct sums and counts, each of a scope, an asset and a period. All of them are looked up for every payment. */
  windowsMax: 50,
  periodSecondsMin: 60,
  periodSecondsMax: 90 * 86_400,
  approvalsMax: 10,
  expirySecondsMin: 60,
  expirySecondsMax: 30 * 86_400,
  expirySecondsDefault: 86_400,
  changeDelaySecondsMax: 30 * 86_400,
} as const;
