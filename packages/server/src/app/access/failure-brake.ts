/** Slows down whoever keeps failing to authenticate. Memory is bounded; each process brakes on its own. */
export interface FailureBrake {
  /**
   * Asks to try. 0 lets the attempt go ahead, and counts it as a failure until it turns out well: many attempts at once are not
   * free because none has failed yet. Anything else is how many seconds to wait.
   */
  attempt: (keys: readonly BrakeKey[]) => number;
  succeeded: (keys: readonly BrakeKey[]) => void;
  /** It was not found out whether the attempt was good: that is nobody's failure. */
  withdrawn: (keys: readonly BrakeKey[]) => void;
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

export function createFailureBrake(monotonicMs: () => number): FailureBrake {
  const failures = new Map<string, Failures>();

  const recent = (name: string): Failures | undefined => {
    const entry = failures.get(name);
    return entry !== undefined && monotonicMs() - entry.lastAtMs < forgetAfterMs ? entry : undefined;
  };

  const secondsToWait = ({ name, freeFailures }: BrakeKey): number => {
    const entry = recent(name);
    if (entry === undefined || entry.count < freeFailures) return 0;
    const pauseMs = Math.min(2 ** (entry.count - freeFailures), waitMaxSeconds) * 1000;
    return Math.max(0, Math.ceil((entry.lastAtMs + pauseMs - monotonicMs()) / 1000));
  };

  function remember(name: string, count: number): void {
    failures.delete(name);
    if (count > 0) failures.set(name, { count, lastAtMs: monotonicMs() });
    if (failures.size > entriesMax) failures.delete(failures.keys().next().value as string);
  }

  function takeBack(keys: readonly BrakeKey[]): void {
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
      // Only this attempt is taken back: one good client must not let its neighbours try all others.
      takeBack(others);
    },
    withdrawn: takeBack,
  };
}
