import { createRecentCache } from "../../runtime/recent-cache.js";

/**
 * Slows down callers that keep failing to authenticate, and only those: a valid proof is accepted whatever the count, so that no
 * neighbour on the same address can keep a client from its tokens. Memory is bounded, and each process counts on its own.
 */
export interface FailureThrottle {
  /**
   * Reports a failure. 0 if it is one of the free ones, or the pause since the last one has passed; it is counted. Any other result is the
   * number of seconds that the caller should have waited.
   */
  failed: (keys: readonly ThrottleKey[]) => number;
  /** Reports a success, which forgets the failures of one key. */
  succeeded: (name: string) => void;
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
  const failures = createRecentCache<Failures>(entriesMax);

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

  return {
    failed: (keys) => {
      const wait = Math.max(0, ...keys.map(secondsToWait));
      if (wait === 0)
        for (const { name } of keys)
          failures.set(name, { count: (recent(name)?.count ?? 0) + 1, lastAtMs: monotonicMs() });
      return wait;
    },
    succeeded: (name) => void failures.delete(name),
  };
}
