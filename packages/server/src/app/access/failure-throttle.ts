import { LRUCache } from "lru-cache";

/** Slows down callers that keep failing to authenticate. Memory is bounded, and each process counts on its own. */
export interface FailureThrottle {
  /**
   * Starts an attempt. 0 allows it and counts it as a failure until it succeeds, so that many concurrent attempts are not free.
   * Any other result is the number of seconds to wait.
   */
  attempt: (keys: readonly ThrottleKey[]) => number;
  succeeded: (keys: readonly ThrottleKey[]) => void;
  /** Releases an attempt whose outcome is unknown, as when the database was unavailable. */
  withdrawn: (keys: readonly ThrottleKey[]) => void;
}

export interface ThrottleKey {
  name: string;
  /** The number of failures that cause no wait. */
  freeFailures: number;
}

interface Failures {
  count: number;
  lastAtMs: number;
}

const waitMaxSeconds = 60;
const forgetAfterMs = 600_000;
const entriesMax = 10_000;

export function createFailureThrottle(monotonicMs: () => number): FailureThrottle {
  const failures = new LRUCache<string, Failures>({ max: entriesMax });

  const recent = (name: string): Failures | undefined => {
    const entry = failures.get(name);
    return entry !== undefined && monotonicMs() - entry.lastAtMs < forgetAfterMs ? entry : undefined;
  };

  const secondsToWait = ({ name, freeFailures }: ThrottleKey): number => {
    const entry = recent(name);
    if (entry === undefined || entry.count < freeFailures) return 0;
    const pauseMs = Math.min(2 ** (entry.count - freeFailures), waitMaxSeconds) * 1000;
    return Math.max(0, Math.ceil((entry.lastAtMs + pauseMs - monotonicMs()) / 1000));
  };

  function remember(name: string, count: number): void {
    if (count > 0) failures.set(name, { count, lastAtMs: monotonicMs() });
    else failures.delete(name);
  }

  function release(keys: readonly ThrottleKey[]): void {
    for (const { name } of keys) remember(name, (recent(name)?.count ?? 1) - 1);
  }

  return {
    attempt: (keys) => {
      const wait = Math.max(0, ...keys.map(secondsToWait));
      if (wait === 0) for (const { name } of keys) remember(name, (recent(name)?.count ?? 0) + 1);
      return wait;
    },
    succeeded: (keys) => {
      const [first, ...others] = keys;
      if (first !== undefined) remember(first.name, 0);
      // Only this attempt is released: one valid client must not reset the count for guesses at others from its address.
      release(others);
    },
    withdrawn: release,
  };
}
