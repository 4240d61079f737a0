const firstMs = 500;
const longestMs = 15_000;
/** After this long without a wait, the next one is short again. */
const calmMs = 60_000;

export interface Backoff {
  /** Waits, longer each time, until the signal. */
  wait: (signal: AbortSignal) => Promise<void>;
}

/**
 * The waits between attempts to read something again. They grow, so that a service that answers each attempt with a gap or an error is not
 * read in a loop, and differ by chance, so that the tabs of an office do not come back together.
 */
export function createBackoff(
  monotonicMs: () => number = () => performance.now(),
  random: () => number = Math.random,
): Backoff {
  let waits = 0;
  let lastMs = Number.NEGATIVE_INFINITY;
  return {
    wait: (signal) => {
      const nowMs = monotonicMs();
      if (nowMs - lastMs > calmMs) waits = 0;
      lastMs = nowMs;
      const fullMs = Math.min(longestMs, firstMs * 2 ** waits);
      waits += 1;
      return pause(fullMs * (0.5 + random() / 2), signal);
    },
  };
}

/** Resolves after this time, or at once when the signal is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end, { once: true });
  });
}
