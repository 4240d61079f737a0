import { type FollowedEvent, isBursarError, type Transaction } from "@bursar/client";
import { lacksScope } from "../../api/queries";
import { createBackoff } from "../../live/backoff";

/** What following one transaction needs of the service. */
export interface TransactionSource {
  /** The end of the log. */
  position: (signal: AbortSignal) => Promise<{ sequence: number; epoch: string }>;
  read: (signal: AbortSignal) => Promise<Transaction>;
  follow: (since: number, epoch: string, signal: AbortSignal) => AsyncIterable<FollowedEvent>;
}

const final = ["completed", "rejected", "failed", "cancelled"];

export function isFinal({ state }: Transaction): boolean {
  return final.includes(state);
}

/**
 * Shows a transaction as it changes, until it is final. The end of the log is noted before the transaction is read, and followed from there,
 * so no change is lost in between. After a gap or an error, it is read again: also after the session has ended, because its person logs in
 * again over this page.
 */
export async function followTransaction(
  id: string,
  source: TransactionSource,
  show: (transaction: Transaction) => void,
  signal: AbortSignal,
): Promise<void> {
  const backoff = createBackoff();
  while (!signal.aborted) {
    try {
      if (await followOnce(id, source, show, signal)) return;
    } catch (error) {
      if (!isBursarError(error)) throw error;
      if (lacksScope(error)) return;
    }
    await backoff.wait(signal);
  }
}

/** Whether it has become final. */
async function followOnce(
  id: string,
  source: TransactionSource,
  show: (transaction: Transaction) => void,
  signal: AbortSignal,
): Promise<boolean> {
  const { sequence, epoch } = await source.position(signal);
  const read = await source.read(signal);
  show(read);
  if (isFinal(read)) return true;
  for await (const found of source.follow(sequence, epoch, signal)) {
    if (found.type === "gap") return false;
    const { event } = found;
    if (event.event !== "transaction.updated" || event.data.transaction.id !== id) continue;
    show(event.data.transaction);
    if (isFinal(event.data.transaction)) return true;
  }
  return false;
}
