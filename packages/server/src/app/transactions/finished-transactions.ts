import { isFinal } from "@bursar/domain";
import type { Transaction } from "./transaction.js";

/**
 * Transactions that are over, from memory: a final state is never left, so what was read once stays true, and whoever asks again
 * costs no query. Bounded by weight; what was kept first makes room.
 */
export interface FinishedTransactions {
  find: (tenantId: string, id: string) => Transaction | undefined;
  /** Keeps it, if it is over. */
  keep: (transaction: Transaction) => void;
}

/** About the bytes that one takes, beside the texts of its client. */
const weightOfOne = 1000;
const weightMax = 16_000_000;

export function createFinishedTransactions(): FinishedTransactions {
  const kept = new Map<string, Transaction>();
  let weight = 0;

  function makeRoom(): void {
    // A map keeps the order in which its keys were added.
    for (const [name, transaction] of kept) {
      if (weight <= weightMax) return;
      kept.delete(name);
      weight -= weightOf(transaction);
    }
  }

  return {
    find: (tenantId, id) => kept.get(nameOf(tenantId, id)),
    keep: (transaction) => {
      const last = transaction.steps.at(-1);
      const name = nameOf(transaction.tenantId, transaction.id);
      if (last === undefined || !isFinal(last.state) || kept.has(name)) return;
      kept.set(name, transaction);
      weight += weightOf(transaction);
      makeRoom();
    },
  };
}

function nameOf(tenantId: string, id: string): string {
  return `${tenantId} ${id}`;
}

function weightOf({ reference, metadata, judgement }: Transaction): number {
  let characters = reference.length;
  for (const key in metadata) characters += key.length + (metadata[key] as string).length;
  for (const { comment } of judgement?.approvals ?? []) characters += weightOfOne + (comment?.length ?? 0);
  return weightOfOne + 2 * characters;
}
