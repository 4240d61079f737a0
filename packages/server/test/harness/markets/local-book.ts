import { checksumDepth } from "@bursar/domain";
import type { DeltaMessage, SnapshotMessage } from "@bursar/protocol";

type Level = readonly string[];

/** What a client of the stream makes of its messages, and what it finds wrong with them. */
export function createLocalBook() {
  const sides = { bids: new Map<string, string>(), asks: new Map<string, string>() };
  const faults: string[] = [];
  let sequence: number | undefined;
  let snapshots = 0;
  let deltas = 0;

  const levels = (side: "bids" | "asks"): [string, string][] =>
    [...sides[side]].sort(([a], [b]) => (side === "bids" ? Number(b) - Number(a) : Number(a) - Number(b)));

  function set(side: "bids" | "asks", changes: readonly Level[]): void {
    for (const [price = "", size = ""] of changes) {
      if (size === "0") sides[side].delete(price);
      else sides[side].set(price, size);
    }
  }

  return {
    sequence: () => sequence,
    counts: () => ({ snapshots, deltas }),
    faults,
    levels,
    take: (message: SnapshotMessage | DeltaMessage) => {
      if (message.type === "snapshot") {
        snapshots += 1;
        sides.bids.clear();
        sides.asks.clear();
      } else {
        deltas += 1;
        if (message.previous_sequence !== sequence)
          faults.push(`a delta from ${message.previous_sequence} came to a book of ${sequence}`);
      }
      set("bids", message.bids);
      set("asks", message.asks);
      sequence = message.sequence;
      if (checksumDepth(levels("asks"), levels("bids")) !== message.checksum)
        faults.push(`the checksum at ${sequence} is not that of the book`);
    },
  };
}
