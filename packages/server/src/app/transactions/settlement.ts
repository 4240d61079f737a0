import type {
  Approval,
  ApprovalRequirement,
  Balance,
  Decision,
  UsageByWindow,
  WalletPurpose,
} from "@bursar/domain";
import type { TenantWindow } from "../policy/usage.js";

/** A transaction that was claimed to be decided, with what its decision needs. */
export interface ClaimedTransaction {
  tenantId: string;
  id: string;
  state: "accepted" | "awaiting_approval";
  version: number;
  clientId: string;
  asset: string;
  amount: bigint;
  sourceWalletId: string;
  destinationWalletId: string;
  expiresAt: Date | null;
  createdAt: Date;
  sourceIsFrozen: boolean;
  sourcePurpose: WalletPurpose;
  /** The network of the source, which says which rail moves the money. */
  network: string;
  needsJudgement: boolean;
  /** What it waits for, where it waits for people. */
  approval: { requirement: ApprovalRequirement; askedAt: Date; approvals: readonly Approval[] } | null;
}

/** What becomes of a claimed transaction. */
export interface Settlement {
  transaction: ClaimedTransaction;
  /** Undefined where it goes on waiting, until `dueAt`. */
  decision: Decision | undefined;
  occurredAt: Date;
  /** When to look at it again, where it waits for people. */
  dueAt: Date | null;
  /** How it was judged, where it was judged now. */
  judgement: NewJudgement | null;
}

export interface NewJudgement {
  policyVersion: number;
  rule: string;
  reason: string | null;
  requirement: ApprovalRequirement | null;
}

/** Balances by account, which a decision reads and changes: the next decision of the batch sees what the one before has done. */
export type Accounts = Map<string, Balance>;

/** How a batch is to be decided: what must be known of the past, and the decisions, once that is known and locked. */
export interface BatchPlan {
  /** The end of the windows. */
  now: Date;
  windows: readonly TenantWindow[];
  decide: (accounts: Accounts, usage: UsageByWindow) => Settlement[];
}

export type PlanBatch = (claimed: readonly ClaimedTransaction[]) => Promise<BatchPlan>;

export interface SettledTransaction {
  tenantId: string;
  id: string;
}

/** Each claims, locks, asks for decisions and writes them, in one SQL transaction without network; and says what has changed. */
/** How many to take at once, and how many of the oldest to pass over because they cannot be settled. */
export interface BatchShare {
  limit: number;
  passOver: number;
}

export interface SettlementStore {
  /** The oldest that were accepted and not judged. */
  settleAccepted: (
    share: BatchShare,
    /** Passes over what was accepted before; undefined looks at everything. */
    acceptedFrom: Date | undefined,
    plan: PlanBatch,
  ) => Promise<SettledTransaction[]>;
  /** Those that wait for people, and are due. */
  settleDue: (share: BatchShare, now: Date, plan: PlanBatch) => Promise<SettledTransaction[]>;
  /** One, in whatever open state it is; waits for an engine that has it. */
  settleOne: (tenantId: string, id: string, plan: PlanBatch) => Promise<SettledTransaction[]>;
}
