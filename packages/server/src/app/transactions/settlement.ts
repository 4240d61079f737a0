import type {
  AccountKey,
  Approval,
  ApprovalRequirement,
  DecidableTransaction,
  Decision,
  Initiator,
  PolicyRequest,
  TransactionKind,
  UsageByWindow,
} from "@bursar/domain";
import type { TraceContext } from "../../runtime/tracing/trace-context.js";
import type { Balances, LedgerUnit } from "../ledger/ledger-unit.js";
import type { ActivePolicyReads } from "../policy/policy.js";
import type { TenantWindow } from "../policy/usage.js";

export interface TransactionKey {
  tenantId: string;
  id: string;
}

/** An open transaction, locked so that what happens to it next can be decided. */
export type ClaimedTransaction = DecidableTransaction & {
  id: string;
  kind: TransactionKind;
  /** The client that asked for it; null for a deposit. */
  clientId: string | null;
  createdAt: Date;
  /** When it began to count towards the limits of its tenant's policy; null if it does not. */
  countedAt: Date | null;
  /** Whether its cancellation was requested while it could not end, and who requested it, if that is known. */
  cancelRequested?: boolean;
  cancelRequestedBy?: string | null;
  /** Whether something other than the service has changed what it pays, or what it requires: nothing is done with it then. */
  isTampered?: boolean;
};

/** A claimed transaction that a wallet pays, with what judging it needs: it is the request that policy judges. */
export type ClaimedPayment = ClaimedTransaction &
  PolicyRequest & {
    expiresAt: Date | null;
    sourceIsFrozen: boolean;
    /** Whether the client that asked for it is disabled, or its tenant suspended: it is not settled until that ends. */
    isHeld: boolean;
    needsJudgement: boolean;
    /** What it waits for, if policy requires approvals. */
    approval: PendingApproval | null;
    /** Whether something other than the service has recorded that its wallet, client or tenant is no longer stopped. */
    hasForgedStop?: boolean;
    /** Whether its client was disabled, or its tenant suspended, when it was requested: no valid token can have requested it. */
    isRequestedWhileStopped?: boolean;
  };

/** The approvals that a payment waits for, and the clients behind it as they are now. */
export interface PendingApproval {
  requirement: ApprovalRequirement;
  /** The rule that requires them, and the version of the policy that it was in. */
  rule: string;
  policyVersion: number;
  askedAt: Date;
  initiator: Pick<
    Initiator,
    "lineage" | "resetAtMs" | "isSingleAdministrator" | "publicKeys" | "lineageKeys"
  >;
  approvals: readonly Approval[];
  /** Whether the audit log says that an approver rejected it, also if the decision itself was deleted from the database. */
  isRejected: boolean;
  /** Whether its address was on the allow-list when it was judged, and has been removed since. */
  isDelisted: boolean;
}

/** What was decided about a claimed transaction. */
export interface Settlement {
  transaction: ClaimedTransaction;
  /** Undefined if it goes on waiting, until `dueAt`. */
  decision: Decision | undefined;
  occurredAt: Date;
  /** When to look at it again, if it waits for approvals. */
  dueAt: Date | null;
  /** How it was judged, if it was judged now. */
  judgement: NewJudgement | null;
  /** The client or operator that caused it; left out if the service did. */
  actorId?: string | null;
  /** The span of the request that causes it, if that is recorded and its transaction is not stored yet. */
  trace?: TraceContext | undefined;
  /** Set aside until then: no claim finds it before, unless it is released. */
  heldUntil?: Date | "infinity";
  /** Why it is set aside, if that is a fault: for the operator, who can have it looked at again. */
  fault?: string;
}

export interface NewJudgement {
  policyVersion: number;
  rule: string;
  reason: string | null;
  requirement: ApprovalRequirement | null;
}

/** A deposit that is stored when it is first seen, or when it is requested. */
export interface NewDeposit extends TransactionKey {
  /** The client that has created it; null if the operator did, or if it was seen on a network. */
  clientId: string | null;
  idempotencyKey: string;
  requestHash: string;
  reference: string;
  asset: string;
  amount: bigint;
  sourceAccountId: string;
  sourceAddress: string | null;
  destinationAccountId: string;
  metadata: Readonly<Record<string, string>> | null;
  createdAt: Date;
}

/**
 * One SQL transaction in which money moves: claim, lock, decide, write, in this order, which is the order of locks everywhere. It must
 * not wait for the network.
 */
/** It also reads policies: a read through the pool would wait for a second connection while this one holds locks. */
export interface SettlementUnit extends LedgerUnit, ActivePolicyReads {
  /** The oldest that each of these tenants has accepted. Rows that another process holds are skipped. */
  claimAccepted: (tenants: readonly TenantClaim[], perTenantMax: number) => Promise<ClaimedPayment[]>;
  /** Those that wait for approvals and are due: an approver decided, or the time has passed. */
  claimDue: (limit: number, now: Date, tenants?: TenantChoice) => Promise<ClaimedPayment[]>;
  /** Those that could not be settled before and are due to be tried again. */
  claimRetries: (limit: number, now: Date, tenants?: TenantChoice) => Promise<ClaimedPayment[]>;
  /** Those of these that are not settled yet; rows that another process holds are skipped. */
  claimAgain: (keys: readonly TransactionKey[]) => Promise<ClaimedPayment[]>;
  /** One payment in whatever open state it is; waits for a process that holds it. */
  claimPayment: (key: TransactionKey) => Promise<ClaimedPayment | undefined>;
  /** Those of these that a rail is working on, on its network; waits for a process that holds one. */
  claimOnRail: (network: string, keys: readonly TransactionKey[]) => Promise<ClaimedTransaction[]>;
  /** Inserts those that were not seen before, as accepted transactions that only this unit of work can see; returns their ids. */
  insertDeposits: (deposits: readonly NewDeposit[]) => Promise<ReadonlySet<string>>;
  /** Records that its client wants it cancelled, for its rail to answer. */
  requestCancel: (key: TransactionKey, actorId: string | null) => Promise<void>;
  /**
   * Those of these wallets, by their ids, of which the chain or the signer is ahead of the books, or was not asked since the database may have
   * gone back: payments may have been made that the books have forgotten.
   */
  listBehindChain: (
    wallets: readonly { tenantId: string; walletId: string }[],
  ) => Promise<ReadonlySet<string>>;
  /** Sums of the past. Locks the tenants, so that of two processes that judge, the second sees what the first has allowed. */
  lockUsage: (windows: readonly TenantWindow[], now: Date) => Promise<UsageByWindow>;
  /** Writes what was decided, with its events. */
  write: (settlements: readonly Settlement[], balances: Balances) => Promise<void>;
}

/** A tenant, and the time from which on to look at what it has accepted. */
export interface TenantClaim {
  tenantId: string;
  acceptedFrom: Date;
}

/** Whose rows a claim takes: those of all tenants if left out. */
export type TenantChoice = { only: string } | { except: readonly string[] };

/** Which tenants to look at: so many, after this one. */
export interface WorkSearch {
  limit: number;
  afterTenantId: string | undefined;
  /** Only what was accepted from this time on; undefined stands for everything. */
  acceptedFrom: Date | undefined;
  now: Date;
}

export interface WaitingWork {
  /** Tenants that have accepted something which is not settled yet, with the id of the first that was found, by their ids. */
  tenants: { tenantId: string; firstId: string }[];
  /** Whether something that waits for approvals, or for its next attempt, is due. */
  hasDue: boolean;
  hasRetries: boolean;
}

export interface SettlementStore {
  findWork: (search: WorkSearch) => Promise<WaitingWork>;
  /**
   * Runs the work in one SQL transaction, and again from its beginning if accounts had to be created first. With a lock timeout it fails if
   * something else holds a lock for longer that it needs.
   */
  unitOfWork: <T>(work: (unit: SettlementUnit) => Promise<T>, lockTimeoutMs?: number) => Promise<T>;
  /** Records on the row itself that it could not be settled, and when it is tried next. */
  recordFailure: (key: TransactionKey, error: unknown, now: Date) => Promise<void>;
}

/** The two accounts of each, once. */
export function accountsOf(claimed: readonly ClaimedTransaction[]): AccountKey[] {
  const keys = new Map<string, AccountKey>();
  const add = (tenantId: string, accountId: string, asset: string) => {
    const name = `${tenantId} ${accountId} ${asset}`;
    if (!keys.has(name)) keys.set(name, { tenantId, accountId, asset });
  };
  for (const { tenantId, asset, sourceAccountId, destinationAccountId } of claimed) {
    add(tenantId, sourceAccountId, asset);
    add(tenantId, destinationAccountId, asset);
  }
  return [...keys.values()];
}
