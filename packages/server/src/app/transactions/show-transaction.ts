import type { Transaction } from "@bursar/protocol";
import type { DatabaseIdentity } from "../../runtime/database/database-identity.js";
import { isRefused, type Refused } from "../requests/refused.js";
import type { FinishedTransactions } from "./finished-transactions.js";
import { presentTransaction } from "./present-transaction.js";
import type { ReadTransaction } from "./read-transaction.js";

export interface ShowTransactionDeps {
  read: ReadTransaction;
  finished: FinishedTransactions;
  identity: Pick<DatabaseIdentity, "hasAnsweredNow">;
}

/** Presents a transaction, from memory if it is final; waits as `ReadTransaction` does. */
export type ShowTransaction = (
  ...asked: Parameters<ReadTransaction>
) => Promise<Transaction | Refused> | Transaction;

export function createTransactionShower({ read, finished, identity }: ShowTransactionDeps): ShowTransaction {
  const readAndShow: ShowTransaction = async (tenantId, id, waitFor) => {
    const clearsBefore = finished.clears();
    const transaction = await read(tenantId, id, waitFor);
    if (isRefused(transaction)) return transaction;
    const shown = presentTransaction(transaction);
    if (finished.clears() === clearsBefore) finished.keep(tenantId, id, shown);
    return shown;
  };
  // Not an async function: what is known is shown without a turn of the event loop.
  return (tenantId, id, waitFor) => {
    const known = identity.hasAnsweredNow() ? finished.find(tenantId, id) : undefined;
    if (known === undefined || known.version === waitFor?.versionOtherThan)
      return readAndShow(tenantId, id, waitFor);
    return known;
  };
}
