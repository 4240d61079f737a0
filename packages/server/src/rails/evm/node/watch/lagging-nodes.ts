/** A node that is behind: others have called a later block final for some time. It holds finality back if there are only two. */
export interface LaggingNode {
  name: string;
  /** Undefined if the node does not answer. */
  finalNumber: number | undefined;
  /** The last block that another node calls final, or two others if three answer: a single one of them can make up any number. */
  highest: number;
}

export interface LaggingNodesDeps {
  /** Of all nodes, in the order of the configuration. */
  names: readonly string[];
  monotonicMs: () => number;
  /** Called once for each time that a node begins to hold finality back. */
  onLagging: (node: LaggingNode) => void;
}

export interface LaggingNodes {
  /** The number of the final block of each node that answers, by its name. */
  see: (finalNumbers: ReadonlyMap<string, number>) => void;
  /** For each node whether it holds finality back; nothing while this process does not look at the nodes. */
  read: () => readonly boolean[];
}

/** Nodes reach a block at different moments, and `finalized` moves on by many blocks at once: the time says more than a number of blocks. */
const toleratedMs = 60_000;

/** Names nodes that are behind: one of two keeps the final block of the network where it is. */
export function createLaggingNodes({ names, monotonicMs, onLagging }: LaggingNodesDeps): LaggingNodes {
  /** What each node has to reach, and since when another one has it. */
  const goals = names.map(() => ({ number: Number.NEGATIVE_INFINITY, sinceMs: 0, isReported: false }));
  let seenMs = Number.NEGATIVE_INFINITY;
  return {
    see: (finalNumbers) => {
      const nowMs = monotonicMs();
      // What was seen long ago, under an earlier lease, says nothing about now.
      const isNew = nowMs - seenMs >= toleratedMs;
      seenMs = nowMs;
      const [first = Number.NEGATIVE_INFINITY, second = first, ...more] = [...finalNumbers.values()].sort(
        (one, other) => other - one,
      );
      const highest = more.length === 0 ? first : second;
      for (const [index, goal] of goals.entries()) {
        const name = names[index] as string;
        const finalNumber = finalNumbers.get(name);
        const isReached = finalNumber !== undefined && finalNumber >= goal.number;
        if (isNew || isReached) Object.assign(goal, { number: highest, sinceMs: nowMs, isReported: false });
        else if (!goal.isReported && nowMs - goal.sinceMs >= toleratedMs) {
          goal.isReported = true;
          onLagging({ name, finalNumber, highest });
        }
      }
    },
    read: () => (monotonicMs() - seenMs >= toleratedMs ? [] : goals.map(({ isReported }) => isReported)),
  };
}
