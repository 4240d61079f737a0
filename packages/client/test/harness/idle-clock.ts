import type { Runtime } from "@bursar/client";

/**
 * A clock that only moves when nothing else does: while a request is being answered, no time passes. When all of them wait, for a pause to
 * end or for a service that has stopped answering, it jumps to the next timer.
 */
export function createIdleClock(
  isIdle: () => boolean,
  random: () => number,
): { runtime: Runtime; stop: () => void } {
  let elapsed = 0;
  let isStopped = false;
  const timers = new Set<{ at: number; run: () => void }>();

  function turn(): void {
    if (isStopped) return;
    if (isIdle()) {
      const next = [...timers].sort((one, other) => one.at - other.at)[0];
      if (next !== undefined) {
        timers.delete(next);
        elapsed = Math.max(elapsed, next.at);
        next.run();
      }
    }
    setImmediate(turn);
  }
  setImmediate(turn);
  return {
    runtime: {
      now: () => 1_800_000_000_000 + elapsed,
      monotonicMs: () => elapsed,
      schedule: (delayMs, run) => {
        const timer = { at: elapsed + delayMs, run };
        timers.add(timer);
        return () => timers.delete(timer);
      },
      random,
    },
    stop: () => {
      isStopped = true;
    },
  };
}
