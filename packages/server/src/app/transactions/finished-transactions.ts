import { isFinal } from "@bursar/domain";
import type { Transaction } from "@bursar/protocol";
import { LRUCache } from "lru-cache";

/**
 * Transactions that are over, as readers see them, from memory: a final state is never left, so what was read once stays true, and
 * whoever asks again costs no query. One is kept when it is read for the second time; most never are, and to keep those as well would
 * cost more than it saves. Bounded by weight; those that were used longest ago are dropped.
 */
export interface FinishedTransactions {
  find: (tenantId: string, id: string) => Transaction | undefined;
  /** Says that it was read. */
  noteRead: (tenantId: string, id: string, transaction: Transaction) => void;
}

/** About the bytes that one takes, beside the texts of its client. */
const weightOfOne = 2500;
const weightMax = 16_000_000;
/** A bit for each of so many kinds of ids, by their last digits; two of one kind are taken for the same, which does no harm. */
const kindDigits = 5;
const kinds = 16 ** kindDigits;
/** When this many have been read once they are forgotten, before too many are taken for others. */
const readOnceMax = kinds / 16;

export function createFinishedTransactions(): FinishedTransactions {
  const kept = new LRUCache<string, Transaction>({ maxSize: weightMax, sizeCalculation: weightOf });
  const isReadOnce = new Uint8Array(kinds);
  let readOnceCount = 0;

  function isReadAgain(id: string): boolean {
    const kind = Number.parseInt(id.slice(-kindDigits), 16);
    if (isReadOnce[kind] === 1) return true;
    if (readOnceCount === readOnceMax) {
      isReadOnce.fill(0);
      readOnceCount = 0;
    }
    isReadOnce[kind] = 1;
    readOnceCount += 1;
    return false;
  }

  return {
    find: (tenantId, id) => kept.get(nameOf(tenantId, id)),
    noteRead: (tenantId, id, transaction) => {
      const name = nameOf(tenantId, id);
      if (!isFinal(transaction.state) || !isReadAgain(id) || kept.has(name)) return;
      kept.set(name, transaction);
    },
  };
}

function nameOf(tenantId: string, id: string): string {
  return `${tenantId} ${id}`;
}

function weightOf({ reference, metadata, history }: Transaction): number {
  let characters = reference.length;
  for (const key in metadata) characters += key.length + (metadata[key] ?? "").length;
  for (const { approval } of history) characters += approval?.comment?.length ?? 0;
  return weightOfOne + 2 * characters;
}
