import type { Transaction } from "@bursar/protocol";
import type { ConfirmDatabase } from "../../runtime/database/confirm-database.js";
import type { DatabaseIdentity } from "../../runtime/database/database-identity.js";
import { isRefused, type Refused } from "../requests/refused.js";
import type { FinishedTransactions } from "./finished-transactions.js";
import { presentTransaction } from "./present-transaction.js";
import type { ReadTransaction } from "./read-transaction.js";

export interface ShowTransactionDeps {
  read: ReadTransaction;
  finished: FinishedTransactions;
  database: { identity: Pick<DatabaseIdentity, "hasAnsweredNow">; confirm: ConfirmDatabase };
}

/** Presents a transaction, from memory if it is final and the database is still the same; waits as `ReadTransaction` does. */
export type ShowTransaction = (
  ...asked: Parameters<ReadTransaction>
) => Promise<Transaction | Refused> | Transaction;

export function createTransactionShower({ read, finished, database }: ShowTransactionDeps): ShowTransaction {
  const readAndShow: ShowTransaction = async (tenantId, id, waitFor) => {
    const clearsBefore = finished.clears();
    const transaction = await read(tenantId, id, waitFor);
    if (isRefused(transaction)) return transaction;
    const shown = presentTransaction(transaction);
    if (finished.clears() === clearsBefore) finished.keep(tenantId, id, shown);
    return shown;
  };
  const show: ShowTransaction = (tenantId, id, waitFor) => {
    const known = finished.find(tenantId, id);
    if (known === undefined || known.version === waitFor?.versionOtherThan)
      return readAndShow(tenantId, id, waitFor);
    return known;
  };
  // Not an async function: what is known is shown without a turn of the event loop.
  return (tenantId, id, waitFor) => {
    if (database.identity.hasAnsweredNow() || !finished.has(tenantId, id)) return show(tenantId, id, waitFor);
    return database
      .confirm()
      .then((isConfirmed) => (isConfirmed ? show : readAndShow)(tenantId, id, waitFor));
  };
}
