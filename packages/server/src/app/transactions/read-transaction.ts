import type { Refused } from "../requests/refused.js";
import type { ChangeHub } from "./change-hub.js";
import type { Transaction, TransactionStore } from "./transaction.js";

export interface ReadTransactionDeps {
  store: Pick<TransactionStore, "readTransaction">;
  changes: ChangeHub;
  /** A clock that nobody can set: a client that waits is not held longer because the time of day was put back. */
  monotonicMs: () => number;
}

interface WaitFor {
  versionOtherThan: number;
  timeoutMs: number;
  /** Throws if the caller is no longer entitled to what it waits for; left out if nobody has to be. */
  review?: () => Promise<void>;
}

/** Reads a transaction; if the caller has this version already, waits a while for a newer one, but not longer than the service runs. */
export type ReadTransaction = (
  tenantId: string,
  id: string,
  waitFor?: WaitFor,
) => Promise<Transaction | Refused>;

/** How long a change that another process has made can go unseen. */
const lookEveryMs = 250;
/** A caller that was disabled does not keep its request open for longer than this, after it is known here. */
const reviewEveryMs = 1000;

export function createTransactionReader({
  store,
  changes,
  monotonicMs,
}: ReadTransactionDeps): ReadTransaction {
  return async (tenantId, id, waitFor) => {
    const deadlineMs = monotonicMs() + (waitFor?.timeoutMs ?? 0);
    let reviewedMs = monotonicMs();
    const watch = waitFor === undefined ? undefined : changes.watch(id);
    try {
      for (;;) {
        const transaction = await store.readTransaction(tenantId, id);
        if (transaction === undefined) return { refused: "TRANSACTION_NOT_FOUND" };
        const leftMs = changes.isClosed() ? 0 : deadlineMs - monotonicMs();
        if (waitFor === undefined || versionOf(transaction) !== waitFor.versionOtherThan || leftMs <= 0)
          return transaction;
        await watch?.wait(Math.min(leftMs, lookEveryMs));
        if (monotonicMs() - reviewedMs < reviewEveryMs) continue;
        await waitFor.review?.();
        reviewedMs = monotonicMs();
      }
    } finally {
      watch?.end();
    }
  };
}

function versionOf({ steps }: Transaction): number {
  return steps.at(-1)?.version ?? 1;
}
