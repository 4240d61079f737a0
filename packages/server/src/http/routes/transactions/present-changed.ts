import type { ClientOrigin } from "../../../app/audit/audit-entry.js";
import { presentTransaction } from "../../../app/transactions/present-transaction.js";
import type { Transaction } from "../../../app/transactions/transaction.js";

/** A transaction that a client has changed. A client that may not read transactions sees only its id and its state. */
export function presentChanged({ principal }: ClientOrigin, transaction: Transaction) {
  const shown = presentTransaction(transaction);
  if (principal.scopes.has("transactions:read")) return shown;
  const { id, object, state } = shown;
  return { id, object, state };
}
