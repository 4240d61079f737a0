import { createGroupCommit } from "../../runtime/concurrency/group-commit.js";
import type { Timers } from "../../runtime/loops/timers.js";
import type { AcceptedTransaction, AcceptOutcome, TransactionStore } from "./transaction.js";

/** Stores transactions, those that arrive together in one commit. */
export interface AcceptQueue {
  /** Resolves after the commit. Undefined if the queue is full. */
  accept: (transaction: AcceptedTransaction) => Promise<AcceptOutcome> | undefined;
  /** How long the oldest one has been waiting for its commit. */
  oldestWaitMs: () => number;
  /** How long the oldest statement has been running. */
  oldestWriteMs: () => number;
}

export interface AcceptQueueDeps {
  store: Pick<TransactionStore, "acceptTransactions">;
  isUnavailable: (error: unknown) => boolean;
  /** Called after each commit that has accepted something, with the tenants that it was for, and with what was accepted. */
  onAccepted: (tenantIds: readonly string[], accepted: readonly AcceptedTransaction[]) => void;
  /** A clock that nobody can set back. */
  monotonicMs: () => number;
  timers: Pick<Timers, "soon">;
}

export function createAcceptQueue({
  store,
  isUnavailable,
  onAccepted,
  monotonicMs,
  timers,
}: AcceptQueueDeps): AcceptQueue {
  const { add, oldestWaitMs, oldestWriteMs } = createGroupCommit<AcceptedTransaction, AcceptOutcome>({
    write: store.acceptTransactions,
    isUnavailable,
    tenantOf: ({ tenantId }) => tenantId,
    onWritten: (batch, outcomes) => {
      const accepted = batch.filter((_, index) => outcomes[index]?.kind === "accepted");
      if (accepted.length > 0) onAccepted([...new Set(accepted.map(({ tenantId }) => tenantId))], accepted);
    },
    monotonicMs,
    timers,
  });
  return { accept: add, oldestWaitMs, oldestWriteMs };
}
