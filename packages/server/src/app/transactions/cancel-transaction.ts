import { timeOfUuidV7 } from "@bursar/domain";
import { isRefused, type Refused } from "../refused.js";
import type { ChangeHub } from "./change-hub.js";
import type { ReadTransaction } from "./read-transaction.js";
import type { Transaction, TransactionStore } from "./transaction.js";

export interface CancelTransactionDeps {
  store: Pick<TransactionStore, "cancelTransaction">;
  read: ReadTransaction;
  changes: ChangeHub;
  nowMs: () => number;
}

export type CancelTransaction = (tenantId: string, id: string) => Promise<Transaction | Refused>;

/** Calls a transaction off, if the engine has not been faster. To call off what was called off is a success. */
export function createTransactionCanceller({
  store,
  read,
  changes,
  nowMs,
}: CancelTransactionDeps): CancelTransaction {
  return async (tenantId, id) => {
    // The clock of whoever accepted it may be ahead of this one; nothing happens before it was accepted.
    const occurredAt = new Date(Math.max(nowMs(), timeOfUuidV7(id)));
    const cancelled = await store.cancelTransaction(tenantId, id, occurredAt);
    if (cancelled) changes.announce([id]);
    const transaction = await read(tenantId, id);
    if (isRefused(transaction) || transaction.steps.at(-1)?.state === "cancelled") return transaction;
    return { refused: "NOT_CANCELLABLE" };
  };
}
