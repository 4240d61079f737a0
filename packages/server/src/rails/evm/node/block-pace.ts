/** How soon to look for the next block, from how fast the last ones came. */
export interface BlockPace {
  /** The newest block that a node has. */
  readonly see: (headNumber: number) => void;
  /** `isOpen`: something of ours waits for a block or for its finality. */
  readonly pauseMs: (isOpen: boolean) => number;
}

/** Nodes are not asked more often than this, whatever the chain does. */
const leastPauseMs = 200;

/**
 * While something is open, half the time between two blocks, so that one is seen soon after it is there; on chains with blocks of a few
 * hundred milliseconds the usual pause would be longer than everything else that a payment waits for.
 */
export function createBlockPace({
  pollEveryMs,
  monotonicMs,
}: {
  readonly pollEveryMs: number;
  readonly monotonicMs: () => number;
}): BlockPace {
  let last: { readonly headNumber: number; readonly atMs: number } | undefined;
  let blockMs = Number.POSITIVE_INFINITY;
  return {
    see: (headNumber) => {
      if (headNumber === last?.headNumber) return;
      const atMs = monotonicMs();
      if (last !== undefined && headNumber > last.headNumber)
        blockMs = (atMs - last.atMs) / (headNumber - last.headNumber);
      last = { headNumber, atMs };
    },
    pauseMs: (isOpen) => (isOpen ? Math.min(pollEveryMs, Math.max(leastPauseMs, blockMs / 2)) : pollEveryMs),
  };
}
