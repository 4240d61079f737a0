import type { Listed } from "../requests/listed.js";
import type { Transaction, TransactionFilter, TransactionStore } from "./transaction.js";

/** The place of a transaction in the order of deadlines. */
interface Deadline {
  /** The deadline in milliseconds and the id of the transaction, which order the list. */
  id: string;
  transactionId: string;
}

export type ListDeadlines = (
  tenantId: string,
  filter: TransactionFilter,
  limit: number,
  after: string | undefined,
) => Promise<Listed<Deadline>>;

export type ListByDeadline = (
  ...page: Parameters<ListDeadlines>
) => Promise<Listed<{ id: string; transaction: Transaction }>>;

/** Transactions that wait for approval, those that expire next first. One that was decided in the meantime is shown as it is now. */
export function createDeadlineList(
  listDeadlines: ListDeadlines,
  store: Pick<TransactionStore, "readTransactions">,
): ListByDeadline {
  return async (tenantId, ...page) => {
    const { items, scannedTo } = await listDeadlines(tenantId, ...page);
    const ids = items.map(({ transactionId }) => transactionId);
    const found = new Map((await store.readTransactions(tenantId, ids)).map((read) => [read.id, read]));
    const shown = items.map(({ id, transactionId }) => {
      const transaction = found.get(transactionId);
      if (transaction === undefined) throw new Error(`the open transaction ${transactionId} is missing`);
      return { id, transaction };
    });
    return { items: shown, scannedTo };
  };
}
