import type { Transaction } from "@bursar/client";
import type { LiveRows } from "../../live/live-list";
import { matches, type TransactionFilters } from "./filters";

/** Transactions as rows of a live list, newest first. */
export function transactionRows(filters: TransactionFilters): LiveRows<Transaction> {
  return {
    read: (event) => (event.event === "transaction.updated" ? event.data.transaction : undefined),
    keyOf: ({ id }) => id,
    versionOf: ({ version }) => version,
    matches: (transaction) => matches(transaction, filters),
    // Ids begin with their time, so the newest is the greatest.
    compare: (one, other) => (one.id < other.id ? 1 : one.id > other.id ? -1 : 0),
  };
}
