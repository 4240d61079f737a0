/** What the client takes from its surroundings. A test passes its own, and needs no real time. */
export interface Runtime {
  /** The wall clock, in milliseconds. */
  now: () => number;
  /** A clock that is never set, in milliseconds. */
  monotonicMs: () => number;
  /** Runs a function later, and returns a function that cancels it. */
  schedule: (delayMs: number, run: () => void) => () => void;
  /** A number from 0 up to, but not including, 1. */
  random: () => number;
}

export const systemRuntime: Runtime = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  schedule: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
};

/** Waits; ends early, with the reason of the signal, when that is aborted. */
export function sleep(runtime: Runtime, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = runtime.schedule(delayMs, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
