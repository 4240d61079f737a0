/**
 * Runs a few pieces of work at once and lets a bounded number wait, so that a flood of them leaves the rest of the process its resources.
 * The keys of those that wait take turns: a key with many of them does not delay the first of another.
 */
export interface BoundedGate {
  /** The result of the work; `full` if too many wait already, of this key or of all. */
  run: <T>(key: string, work: () => Promise<T>) => Promise<T | "full">;
}

export interface BoundedGateLimits {
  concurrentMax: number;
  waitingMax: number;
  waitingOfKeyMax: number;
}

export function createBoundedGate({
  concurrentMax,
  waitingMax,
  waitingOfKeyMax,
}: BoundedGateLimits): BoundedGate {
  /** By key, in the order in which their turns come. */
  const waiting = new Map<string, (() => void)[]>();
  let waitingCount = 0;
  let runningCount = 0;

  /** Resolves when it is the caller's turn, which it then has to end. */
  function takeTurn(key: string): Promise<void> | "full" {
    if (runningCount < concurrentMax) {
      runningCount += 1;
      return Promise.resolve();
    }
    const queue = waiting.get(key) ?? [];
    if (waitingCount >= waitingMax || queue.length >= waitingOfKeyMax) return "full";
    if (queue.length === 0) waiting.set(key, queue);
    waitingCount += 1;
    return new Promise((resolve) => queue.push(resolve));
  }

  /** Passes the turn to the next key, which goes to the end if it has more. */
  function endTurn(): void {
    const [turn] = waiting;
    if (turn === undefined) {
      runningCount -= 1;
      return;
    }
    const [key, queue] = turn;
    const start = queue.shift();
    waiting.delete(key);
    if (queue.length > 0) waiting.set(key, queue);
    waitingCount -= 1;
    start?.();
  }

  return {
    run: async (key, work) => {
      const turn = takeTurn(key);
      if (turn === "full") return "full";
      await turn;
      try {
        return await work();
      } finally {
        endTurn();
      }
    },
  };
}
