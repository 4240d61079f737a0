/** A node that contradicts the larger group of nodes. */
export interface OddNode {
  name: string;
  /** A sentence with what it says and what the others say. */
  reason: string;
}

export interface OddNodesDeps {
  /** Of all nodes, in the order of the configuration. */
  names: readonly string[];
  monotonicMs: () => number;
  /** Called when a node is found odd, and each minute while it is. */
  onOdd: (node: OddNode) => void;
}

export interface OddNodes {
  see: (names: readonly string[], reason: string) => void;
  isOdd: (name: string) => boolean;
  /** For each node whether it has contradicted the others in the last ten minutes. */
  read: () => readonly boolean[];
}

/** It can contradict only now and then, as when it has a fork of its own, and an alert must see it. */
const rememberedMs = 600_000;
const repeatEveryMs = 60_000;

/** Names the nodes that contradict the larger group. They are asked last for what one node is asked for. */
export function createOddNodes({ names, monotonicMs, onOdd }: OddNodesDeps): OddNodes {
  const seenMs = new Map<string, number>();
  const reportedMs = new Map<string, number>();
  const isOdd = (name: string) =>
    monotonicMs() - (seenMs.get(name) ?? Number.NEGATIVE_INFINITY) < rememberedMs;
  return {
    see: (odd, reason) => {
      const nowMs = monotonicMs();
      for (const name of odd) {
        seenMs.set(name, nowMs);
        if (nowMs - (reportedMs.get(name) ?? Number.NEGATIVE_INFINITY) < repeatEveryMs) continue;
        reportedMs.set(name, nowMs);
        onOdd({ name, reason });
      }
    },
    isOdd,
    read: () => names.map(isOdd),
  };
}
