import type { AssetAmount, Balance, TransactionState } from "@bursar/domain";
import type { LoggedEvent } from "../../../src/app/events/event.js";
import type { AcceptedTransaction } from "../../../src/app/transactions/transaction.js";
import type { Wallet } from "../../../src/app/wallets/wallet.js";
import type { Rows, Table } from "./simulated-rows.js";

/** The tables of the service's schema that its promises rest on. Keys are the columns of the primary key, joined by a space. */

export const transactions: Table<AcceptedTransaction> = { name: "transactions" };
/** The unique key on the idempotency key; its rows say whose it is. */
export const transactionKeys: Table<string> = { name: "transaction_keys" };
export const openTransactions: Table<OpenTransaction> = { name: "open_transactions" };
export const accounts: Table<Balance> = { name: "ledger_accounts" };
export const wallets: Table<Wallet & { requestHash: string | null }> = { name: "wallets" };
export const walletKeys: Table<string> = { name: "wallet_keys" };
export const eventSequences: Table<number> = { name: "event_sequences" };
export const events: Table<StoredEvent> = { name: "events" };
export const tenants: Table<null> = { name: "tenants" };
/** The buckets of a tenant's only window. */
export const usageBuckets: Table<readonly UsageBucket[]> = { name: "usage_buckets" };
/** The unique index on subject and version. */
export const eventsBySubject: Table<StoredEvent> = { name: "events_by_subject" };

export interface UsageBucket {
  startMs: number;
  count: number;
}

export interface OpenTransaction {
  tenantId: string;
  id: string;
  state: TransactionState;
  version: number;
  needsJudgement: boolean;
  cancelRequested: boolean;
  feeHold: AssetAmount | null;
}

/** The row of a transaction that was just accepted. */
export function asOpen({ tenantId, id, needsJudgement }: AcceptedTransaction): OpenTransaction {
  return {
    tenantId,
    id,
    state: "accepted",
    version: 1,
    needsJudgement,
    cancelRequested: false,
    feeHold: null,
  };
}

export interface StoredEvent extends LoggedEvent {
  tenantId: string;
}

export function keyOf(...columns: readonly string[]): string {
  return columns.join(" ");
}

/** Numbers in keys sort like numbers. */
export function sequenceKey(tenantId: string, sequence: number): string {
  return keyOf(tenantId, sequence.toString().padStart(9, "0"));
}

/** What has happened to one subject, oldest first. */
export function eventsOf(rows: Rows, tenantId: string, subjectId: string): StoredEvent[] {
  const found: StoredEvent[] = [];
  // Versions count from 1, which is no event for a transaction and a wallet's own beginning.
  for (let version = 2; ; version++) {
    const event = rows.get(eventsBySubject, keyOf(tenantId, subjectId, String(version)));
    if (event === undefined) return found;
    found.push(event);
  }
}
