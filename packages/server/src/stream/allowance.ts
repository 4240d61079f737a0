/** How often something may happen: a burst at once, and then so many times a second. */
export interface Allowance {
  /** False where it happens too often. */
  take: () => boolean;
}

export function createAllowance(
  { burst, perSecond }: { burst: number; perSecond: number },
  nowMs: () => number,
): Allowance {
  let left = burst;
  let countedAtMs = nowMs();
  return {
    take: () => {
      const now = nowMs();
      left = Math.min(burst, left + ((now - countedAtMs) / 1000) * perSecond);
      countedAtMs = now;
      if (left < 1) return false;
      left -= 1;
      return true;
    },
  };
}
