/** Slows down whoever keeps failing to authenticate. Memory is bounded; each process brakes on its own. */
export interface FailureBrake {
  /** How many seconds to wait before the next attempt; 0 where it may go ahead. */
  secondsToWait: (keys: readonly BrakeKey[]) => number;
  failed: (keys: readonly BrakeKey[]) => void;
  succeeded: (keys: readonly BrakeKey[]) => void;
}

export interface BrakeKey {
  name: string;
  /** How many failures are free. */
  freeFailures: number;
}

interface Failures {
  count: number;
  lastAtMs: number;
}

const waitMaxSeconds = 60;
const forgetAfterMs = 600_000;
const entriesMax = 10_000;

export function createFailureBrake(nowMs: () => number): FailureBrake {
  const failures = new Map<string, Failures>();

  const recent = (name: string): Failures | undefined => {
    const entry = failures.get(name);
    return entry !== undefined && nowMs() - entry.lastAtMs < forgetAfterMs ? entry : undefined;
  };

  return {
    secondsToWait: (keys) =>
      keys.reduce((longest, { name, freeFailures }) => {
        const entry = recent(name);
        if (entry === undefined || entry.count < freeFailures) return longest;
        const pauseMs = Math.min(2 ** (entry.count - freeFailures), waitMaxSeconds) * 1000;
        return Math.max(longest, Math.ceil((entry.lastAtMs + pauseMs - nowMs()) / 1000));
      }, 0),
    failed: (keys) => {
      for (const { name } of keys) {
        const count = (recent(name)?.count ?? 0) + 1;
        failures.delete(name);
        failures.set(name, { count, lastAtMs: nowMs() });
        if (failures.size > entriesMax) failures.delete(failures.keys().next().value as string);
      }
    },
    succeeded: (keys) => {
      for (const { name } of keys) failures.delete(name);
    },
  };
}
