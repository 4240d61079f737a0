import {
  createCommitDoubts,
  type EntryInDoubt,
  isOfTransaction,
  type SqlTransaction,
} from "./commit-doubts.js";

/**
 * Something that this process knows to be committed, because it has committed it or has read it from the log. A database that does not have
 * it has lost data.
 */
export interface CommittedFact {
  kind: "event" | "audit entry" | "transaction" | "order";
  tenantId: string;
  /** The sequence of an event, the number of an audit entry, or the id of a row. */
  at: number | string;
  /** What is there. After a loss, sequences and numbers are used again, for something else. Empty for ids, which are used once. */
  mark: string;
  /** Of an audit entry that is appended: what became of it is found out if the answer to its COMMIT does not come. */
  transaction?: SqlTransaction;
}

/** The latest such facts: committed data is lost from the end, so the latest are lost first, and few of them are enough. */
export interface CommitWitnesses {
  /** Remembers what a unit of work has committed, of an audit entry only if it was sent before; ignored if the database was found to be another one since it began. */
  committed: (generation: number, fact: CommittedFact) => void;
  /** Remembers what was read at the end of a log. Kept apart, so that readers of quiet logs do not displace what was committed last. */
  read: (generation: number, fact: CommittedFact) => void;
  list: () => CommittedFact[];
  /** The last entry of a tenant's audit log that this process has committed, for the tenants that it has written for last. */
  lastEntry: (tenantId: string) => CommittedEntry | undefined;
  /** Called before a COMMIT is sent, with something that it contains. */
  sent: (generation: number, fact: CommittedFact) => void;
  /** Called when the answer to that COMMIT is awaited no longer. */
  unanswered: (fact: CommittedFact) => void;
  entriesInDoubt: (tenantId: string) => EntryInDoubt[];
  /** Called when it is known what became of something that was sent; does nothing if it was known before. */
  settle: (fact: CommittedFact, isCommitted: boolean) => void;
  /** In a new epoch, what an earlier one has lost says nothing, except of an audit log: that it has lost entries is recorded there. */
  beginEpoch: () => void;
}

interface CommittedEntry extends CommittedFact {
  /** The database may have lost it since, with a restore or a failover. */
  isOfEarlierEpoch: boolean;
}

const factsMax = 64;
/** About 3 MB. A writer who wants an entry forgotten must make the service write to as many other audit logs first. */
const chainsMax = 10_000;

export function createCommitWitnesses(currentGeneration: () => number): CommitWitnesses {
  const committed = new Map<string, CommittedFact>();
  const read = new Map<string, CommittedFact>();
  const chains = new Map<string, CommittedFact>();
  /** The last entries of earlier epochs, until the log is written to in this one. */
  let earlier = new Map<string, CommittedFact>();
  const doubts = createCommitDoubts(chainsMax);
  const remember = (facts: Map<string, CommittedFact>, key: string, fact: CommittedFact, max: number) => {
    const before = facts.get(key);
    // Answers to commits can overtake each other.
    const latest = before !== undefined && isAfter(before, fact) ? before : fact;
    // At the end of the map, whose first entry is removed.
    facts.delete(key);
    facts.set(key, latest);
    if (facts.size > max) facts.delete(facts.keys().next().value ?? "");
  };
  const rememberIn = (facts: Map<string, CommittedFact>) => (generation: number, fact: CommittedFact) => {
    if (generation !== currentGeneration()) {
      // An answer of the epoch before. That the log has lost it since is to be recorded all the same.
      if (fact.kind === "audit entry") remember(earlier, fact.tenantId, fact, chainsMax);
      return;
    }
    remember(facts, `${fact.kind} ${fact.tenantId}`, fact, factsMax);
    if (fact.kind === "audit entry") {
      remember(chains, fact.tenantId, fact, chainsMax);
      // One that was found in the log, or is not of this epoch, says nothing of what was lost after it.
      if (isOfTransaction(fact)) earlier.delete(fact.tenantId);
    }
  };
  const rememberCommitted = rememberIn(committed);
  const settle: CommitWitnesses["settle"] = (fact, isCommitted) => {
    const generation = isOfTransaction(fact) ? doubts.remove(fact) : undefined;
    if (generation !== undefined && isCommitted) rememberCommitted(generation, fact);
  };
  return {
    // What was found out before the answer came is not remembered again: the log may have gone on since.
    committed: (generation, fact) =>
      isOfTransaction(fact) ? settle(fact, true) : rememberCommitted(generation, fact),
    read: rememberIn(read),
    list: () => [...committed.values(), ...read.values()],
    lastEntry: (tenantId) => {
      const lost = earlier.get(tenantId);
      const fact = lost ?? chains.get(tenantId);
      return fact && { ...fact, isOfEarlierEpoch: lost !== undefined };
    },
    sent: (generation, fact) => {
      if (isOfTransaction(fact)) doubts.add(generation, fact);
    },
    unanswered: (fact) => {
      if (isOfTransaction(fact)) doubts.unanswered(fact);
    },
    entriesInDoubt: doubts.of,
    settle,
    beginEpoch: () => {
      committed.clear();
      read.clear();
      earlier = new Map([...earlier, ...chains].slice(-chainsMax));
      chains.clear();
    },
  };
}

function isAfter(one: CommittedFact, other: CommittedFact): boolean {
  return typeof one.at === "number" && typeof other.at === "number" && one.at > other.at;
}
