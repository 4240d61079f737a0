import type { Runtime } from "@bursar/client";

export interface FakeRuntime extends Runtime {
  /** The pauses that were waited for, in milliseconds. */
  pauses: number[];
}

/** The timeouts of attempts are longer than any pause between them. */
const pauseMsMax = 29_000;

/**
 * A clock that stands still, except that it jumps to the end of every pause. What is scheduled for later than any pause is a timeout, and
 * never comes due.
 */
export function createFakeRuntime(random: () => number = () => 0.5): FakeRuntime {
  let elapsed = 0;
  const pauses: number[] = [];
  return {
    pauses,
    now: () => 1_800_000_000_000 + elapsed,
    monotonicMs: () => elapsed,
    schedule: (delayMs, run) => {
      if (delayMs > pauseMsMax) return () => undefined;
      const timer = setImmediate(() => {
        elapsed += delayMs;
        pauses.push(delayMs);
        run();
      });
      return () => clearImmediate(timer);
    },
    random,
  };
}
