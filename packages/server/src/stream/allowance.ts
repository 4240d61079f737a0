/** How often something may happen: a burst at once, and then so many times a second. */
export interface Allowance {
  /** Returns false if it happens too often. */
  take: () => boolean;
}

export function createAllowance(
  { burst, perSecond }: { burst: number; perSecond: number },
  monotonicMs: () => number,
): Allowance {
  let left = burst;
  let countedAtMs = monotonicMs();
  return {
    take: () => {
      const nowMs = monotonicMs();
      left = Math.min(burst, left + ((nowMs - countedAtMs) / 1000) * perSecond);
      countedAtMs = nowMs;
      if (left < 1) return false;
      left -= 1;
      return true;
    },
  };
}
