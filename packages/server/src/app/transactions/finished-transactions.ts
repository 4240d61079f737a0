import { isFinal } from "@bursar/domain";
import type { Transaction } from "@bursar/protocol";
import { LRUCache } from "lru-cache";

/**
 * Transactions in a final state, as clients see them, kept in memory. A final state is never left, so an entry cannot become stale unless
 * the database goes back to an earlier state, and reading it again costs no query. Bounded by size; the least recently used makes room.
 */
export interface FinishedTransactions {
  find: (tenantId: string, id: string) => Transaction | undefined;
  has: (tenantId: string, id: string) => boolean;
  /** Keeps a transaction if its state is final. */
  keep: (tenantId: string, id: string, transaction: Transaction) => void;
  /** Drops everything. What was read before must not be kept afterwards, which this number tells. */
  clear: () => void;
  clears: () => number;
}

/** Roughly the bytes of one without the client's own strings. */
const baseBytes = 2500;
const bytesMax = 16_000_000;

export function createFinishedTransactions(): FinishedTransactions {
  let clears = 0;
  const kept = new LRUCache<string, Transaction>({ maxSize: bytesMax, sizeCalculation: estimateBytes });
  return {
    find: (tenantId, id) => kept.get(keyOf(tenantId, id)),
    has: (tenantId, id) => kept.has(keyOf(tenantId, id)),
    keep: (tenantId, id, transaction) => {
      if (isFinal(transaction.state)) kept.set(keyOf(tenantId, id), transaction);
    },
    clear: () => {
      clears += 1;
      kept.clear();
    },
    clears: () => clears,
  };
}

function keyOf(tenantId: string, id: string): string {
  return `${tenantId} ${id}`;
}

function estimateBytes({ reference, metadata, history }: Transaction): number {
  let characters = reference.length;
  for (const key in metadata) characters += key.length + (metadata[key] ?? "").length;
  for (const { approval } of history) characters += approval?.comment?.length ?? 0;
  return baseBytes + 2 * characters;
}
