/** Counts calls in windows of one second. */
export type RateWindow = (perSecondMax: number) => boolean;

export function createRateWindow(monotonicMs: () => number): RateWindow {
  let window = 0;
  let calls = 0;
  return (perSecondMax) => {
    const current = Math.floor(monotonicMs() / 1000);
    if (current !== window) calls = 0;
    window = current;
    calls += 1;
    return calls <= perSecondMax;
  };
}
