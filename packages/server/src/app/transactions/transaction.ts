import type { Asset, FailureCode, TransactionState } from "@bursar/domain";

/** What was asked for, once it has been checked. It never changes. */
export interface AcceptedTransaction {
  tenantId: string;
  id: string;
  clientId: string;
  idempotencyKey: string;
  requestHash: string;
  reference: string;
  asset: Asset;
  amount: bigint;
  sourceWalletId: string;
  destinationWalletId: string;
  metadata: Readonly<Record<string, string>> | null;
  expiresAt: Date | null;
  createdAt: Date;
}

/** One step of its life after acceptance. */
interface TransactionStep {
  version: number;
  state: TransactionState;
  failure: FailureCode | null;
  occurredAt: Date;
}

/** A transaction with what has happened to it, oldest first; nothing has happened to one that was just accepted. */
export interface Transaction
  extends Omit<AcceptedTransaction, "idempotencyKey" | "requestHash" | "clientId"> {
  steps: readonly TransactionStep[];
}

export interface TransactionFilter {
  state?: TransactionState;
  reference?: string;
  asset?: string;
  walletId?: string;
  createdAfter?: Date;
  createdBefore?: Date;
}

/** How the writer of a batch tells each request what became of it. */
export type AcceptOutcome =
  | { kind: "accepted" }
  /** The key was used before, by this transaction. */
  | { kind: "earlier"; transaction: Transaction; requestHash: string };

export interface TransactionStore {
  /** Writes all that are new in one commit, and finds the earlier ones of those whose key was used. In the order given. */
  acceptTransactions: (batch: readonly AcceptedTransaction[]) => Promise<AcceptOutcome[]>;
  readTransaction: (tenantId: string, id: string) => Promise<Transaction | undefined>;
  readTransactions: (tenantId: string, ids: readonly string[]) => Promise<Transaction[]>;
  /** Newest first; `beforeId` is the last id of the page before. */
  listTransactions: (
    tenantId: string,
    filter: TransactionFilter,
    limit: number,
    beforeId: string | undefined,
  ) => Promise<Transaction[]>;
  /** Calls it off if nothing has been done yet; false where it is too late. */
  cancelTransaction: (tenantId: string, id: string, occurredAt: Date) => Promise<boolean>;
}
