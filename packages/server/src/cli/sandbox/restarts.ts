/** Decides when a process that has ended is started again, and when it has ended too often. */
export interface Restarts {
  /** How many times it has ended without having run for long. */
  count: () => number;
  /** Takes into account that it runs from now on. */
  started: () => void;
  /** Takes into account that it has ended. Returns how long to wait before it is started again, undefined if that is no use. */
  ended: () => number | undefined;
}

/** A process that has run for this long was well. What has ended it, such as a full disk, may be over. */
const healthyMs = 60_000;
const restartsMax = 10;
const delayMinMs = 500;
const delayMaxMs = 30_000;

export function createRestarts(monotonicMs: () => number): Restarts {
  let count = 0;
  let startedMs: number | undefined;
  return {
    count: () => count,
    started: () => {
      startedMs = monotonicMs();
    },
    ended: () => {
      if (startedMs !== undefined && monotonicMs() - startedMs >= healthyMs) count = 0;
      startedMs = undefined;
      count += 1;
      return count > restartsMax ? undefined : Math.min(delayMaxMs, delayMinMs * 2 ** (count - 1));
    },
  };
}
