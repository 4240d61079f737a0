import pLimit from "p-limit";

/** Runs a few pieces of work at once and lets a bounded number wait, so that a flood of them leaves the rest of the process its resources. */
export interface BoundedGate {
  /** The result of the work; `full` if too many wait already. */
  run: <T>(work: () => Promise<T>) => Promise<T | "full">;
}

export function createBoundedGate(concurrentMax: number, waitingMax: number): BoundedGate {
  const limit = pLimit(concurrentMax);
  return {
    run: async (work) => (limit.pendingCount >= waitingMax ? "full" : await limit(work)),
  };
}
