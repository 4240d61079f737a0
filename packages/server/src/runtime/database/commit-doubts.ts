import type { CommittedFact } from "./commit-witnesses.js";

/** An SQL transaction that writes audit entries. Its id alone does not name it: after a crash, ids that left no trace are given out again. */
export interface SqlTransaction {
  id: string;
  /** When the server was started, in microseconds since 1970. */
  serverStartedUs: string;
  /** By the clock of the server, in microseconds since 1970. */
  begunUs: string;
}

/** An audit entry whose COMMIT was sent, and not answered yet, or never. */
export interface EntryInDoubt extends CommittedFact {
  transaction: SqlTransaction;
}

export interface CommitDoubts {
  add: (generation: number, entry: EntryInDoubt) => void;
  /** No answer is awaited any more. */
  unanswered: (entry: EntryInDoubt) => void;
  of: (tenantId: string) => EntryInDoubt[];
  /** Returns the generation that it was sent in; undefined if it is in doubt no more. */
  remove: (entry: EntryInDoubt) => number | undefined;
}

/** Bounded. Those whose answer is still awaited are forgotten last. */
export function createCommitDoubts(entriesMax: number): CommitDoubts {
  /** With the generation that they were sent in. */
  const entries = new Map<EntryInDoubt, number>();
  const byTenant = new Map<string, Set<EntryInDoubt>>();
  const withoutAnswer = new Set<EntryInDoubt>();
  const remove: CommitDoubts["remove"] = (entry) => {
    const generation = entries.get(entry);
    entries.delete(entry);
    withoutAnswer.delete(entry);
    const own = byTenant.get(entry.tenantId);
    own?.delete(entry);
    if (own?.size === 0) byTenant.delete(entry.tenantId);
    return generation;
  };
  return {
    add: (generation, entry) => {
      entries.set(entry, generation);
      const own = byTenant.get(entry.tenantId) ?? new Set();
      byTenant.set(entry.tenantId, own.add(entry));
      if (entries.size <= entriesMax) return;
      const [first] = withoutAnswer.size > 0 ? withoutAnswer : entries.keys();
      if (first !== undefined) remove(first);
    },
    unanswered: (entry) => {
      if (entries.has(entry)) withoutAnswer.add(entry);
    },
    of: (tenantId) => [...(byTenant.get(tenantId) ?? [])],
    remove,
  };
}

export function isOfTransaction(fact: CommittedFact): fact is EntryInDoubt {
  return fact.transaction !== undefined;
}
