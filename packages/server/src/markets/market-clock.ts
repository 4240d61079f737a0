/** The time of the events of a market. None is before the one before it, or before the order that it is about, whatever the clocks say. */
export function createMarketClock(now: () => number): (atLeastMs?: number) => Date {
  let clockMs = 0;
  return (atLeastMs = 0) => {
    clockMs = Math.max(clockMs, now(), atLeastMs);
    return new Date(clockMs);
  };
}
