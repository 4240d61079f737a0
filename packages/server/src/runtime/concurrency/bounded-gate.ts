/**
 * Runs a few pieces of work at once and lets a bounded number wait, so that a flood of them leaves the rest of the process its resources.
 * The keys of those that wait take turns: a key with many of them does not delay the first of another. If all places are taken, the key
 * with the most gives up its last one for a key with fewer, so many keys together cannot keep out another one either. A bound on what one
 * key runs at once leaves the others room even if its work takes long.
 */
export interface BoundedGate {
  /** The result of the work; `full` if too many wait already, of this key or of all. */
  run: <T>(key: string, work: () => Promise<T>) => Promise<T | "full">;
}

export interface BoundedGateLimits {
  concurrentMax: number;
  /** How many of them may be of one key; left out, all of them. */
  concurrentOfKeyMax?: number;
  waitingMax: number;
  waitingOfKeyMax: number;
}

export function createBoundedGate({
  concurrentMax,
  concurrentOfKeyMax = concurrentMax,
  waitingMax,
  waitingOfKeyMax,
}: BoundedGateLimits): BoundedGate {
  /** By key, in the order in which their turns come. */
  const waiting = new Map<string, ((outcome: "turn" | "full") => void)[]>();
  let waitingCount = 0;
  const running = new Map<string, number>();
  let runningCount = 0;

  const mayRun = (key: string) => (running.get(key) ?? 0) < concurrentOfKeyMax;

  /** Counts the work of a key that begins, or that has ended. */
  function count(key: string, change: 1 | -1): void {
    const ofKey = (running.get(key) ?? 0) + change;
    if (ofKey === 0) running.delete(key);
    else running.set(key, ofKey);
    runningCount += change;
  }

  /** Resolves when it is the caller's turn, which it then has to end. */
  async function takeTurn(key: string): Promise<"turn" | "full"> {
    if (runningCount < concurrentMax && mayRun(key)) {
      count(key, 1);
      return "turn";
    }
    const queue = waiting.get(key) ?? [];
    if (queue.length >= waitingOfKeyMax) return "full";
    if (waitingCount >= waitingMax && !makeRoom(queue.length)) return "full";
    if (queue.length === 0) waiting.set(key, queue);
    waitingCount += 1;
    return await new Promise((resolve) => queue.push(resolve));
  }

  /** Turns away the last of the key with the most, if that one has at least two more than the key that needs a place. */
  function makeRoom(ownCount: number): boolean {
    let largest: ((outcome: "full") => void)[] = [];
    for (const queue of waiting.values()) if (queue.length > largest.length) largest = queue;
    if (largest.length < ownCount + 2) return false;
    largest.pop()?.("full");
    waitingCount -= 1;
    return true;
  }

  /** Passes the turn to the next key that may run one, which goes to the end if it has more. */
  function endTurn(ended: string): void {
    count(ended, -1);
    for (const [key, queue] of waiting) {
      if (!mayRun(key)) continue;
      const start = queue.shift();
      waiting.delete(key);
      if (queue.length > 0) waiting.set(key, queue);
      waitingCount -= 1;
      count(key, 1);
      start?.("turn");
      return;
    }
  }

  return {
    run: async (key, work) => {
      if ((await takeTurn(key)) === "full") return "full";
      try {
        return await work();
      } finally {
        endTurn(key);
      }
    },
  };
}
