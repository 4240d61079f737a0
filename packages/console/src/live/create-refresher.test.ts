import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createRefresher } from "./create-refresher";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** When it reads again, in milliseconds, if events come at these times. */
function readingsOf(eventsAtMs: readonly number[], untilMs: number): number[] {
  const begun = Date.now();
  const readings: number[] = [];
  const refresher = createRefresher(() => readings.push(Date.now() - begun));
  for (const at of eventsAtMs) setTimeout(refresher.notify, at);
  vi.advanceTimersByTime(untilMs);
  refresher.stop();
  vi.advanceTimersByTime(10_000);
  return readings;
}

it("reads soon after an event, and once more when sums are written", () => {
  expect(readingsOf([0], 20_000)).toEqual([300, 2000]);
});

it("reads once for each later time while events go on, and once after the last", () => {
  const steady = Array.from({ length: 50 }, (_, index) => index * 100);
  expect(readingsOf(steady, 20_000)).toEqual([300, 2000, 4000, 6000, 8000]);
});

it("reads nothing after it was stopped", () => {
  expect(readingsOf([0], 100)).toEqual([]);
});
