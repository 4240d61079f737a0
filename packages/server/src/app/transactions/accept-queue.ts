import { createGroupCommit } from "../group-commit.js";
import type { Timers } from "../timers.js";
import type { AcceptedTransaction, AcceptOutcome, TransactionStore } from "./transaction.js";

/** Makes transactions durable, those that arrive together in one commit. */
export interface AcceptQueue {
  /** Resolves after the commit. Undefined where the queue is full. */
  accept: (transaction: AcceptedTransaction) => Promise<AcceptOutcome> | undefined;
}

export interface AcceptQueueDeps {
  store: Pick<TransactionStore, "acceptTransactions">;
  isUnavailable: (error: unknown) => boolean;
  /** Called after each commit that has accepted something. */
  onAccepted: () => void;
  timers: Pick<Timers, "soon">;
}

export function createAcceptQueue({
  store,
  isUnavailable,
  onAccepted,
  timers,
}: AcceptQueueDeps): AcceptQueue {
  const { add } = createGroupCommit<AcceptedTransaction, AcceptOutcome>({
    write: store.acceptTransactions,
    isUnavailable,
    onWritten: (_, outcomes) => {
      if (outcomes.some(({ kind }) => kind === "accepted")) onAccepted();
    },
    timers,
  });
  return { accept: add };
}
