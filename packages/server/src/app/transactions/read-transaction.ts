import type { Refused } from "../requests/refused.js";
import type { ChangeHub } from "./change-hub.js";
import type { Transaction, TransactionStore } from "./transaction.js";

export interface ReadTransactionDeps {
  store: Pick<TransactionStore, "readTransaction">;
  changes: ChangeHub;
  /** A clock that nobody can set: a client that waits is not held longer because the time of day was put back. */
  monotonicMs: () => number;
}

/** Reads a transaction; if the caller has this version already, waits a while for a newer one, but not longer than the service runs. */
export type ReadTransaction = (
  tenantId: string,
  id: string,
  waitFor?: { versionOtherThan: number; timeoutMs: number },
) => Promise<Transaction | Refused>;

/** How long a change that another process has made can go unseen. */
const lookEveryMs = 250;

export function createTransactionReader({
  store,
  changes,
  monotonicMs,
}: ReadTransactionDeps): ReadTransaction {
  return async (tenantId, id, waitFor) => {
    const deadlineMs = monotonicMs() + (waitFor?.timeoutMs ?? 0);
    const watch = waitFor === undefined ? undefined : changes.watch(id);
    try {
      for (;;) {
        const transaction = await store.readTransaction(tenantId, id);
        if (transaction === undefined) return { refused: "TRANSACTION_NOT_FOUND" };
        const leftMs = changes.isClosed() ? 0 : deadlineMs - monotonicMs();
        if (waitFor === undefined || versionOf(transaction) !== waitFor.versionOtherThan || leftMs <= 0)
          return transaction;
        await watch?.wait(Math.min(leftMs, lookEveryMs));
      }
    } finally {
      watch?.end();
    }
  };
}

function versionOf({ steps }: Transaction): number {
  return steps.at(-1)?.version ?? 1;
}
