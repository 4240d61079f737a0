import { afterEach, describe, expect, it, vi } from "vitest";
import { createBackoff } from "./backoff";

afterEach(() => void vi.useRealTimers());

/** The milliseconds of the next wait. */
async function waited(wait: Promise<void>): Promise<number> {
  const startMs = Date.now();
  const ended = wait.then(() => Date.now() - startMs);
  await vi.runAllTimersAsync();
  return ended;
}

describe("a backoff", () => {
  it("waits longer each time, up to a bound, and begins again after a calm minute", async () => {
    vi.useFakeTimers();
    const { signal } = new AbortController();
    const backoff = createBackoff(
      () => Date.now(),
      () => 1,
    );
    const waits: number[] = [];
    for (let count = 0; count < 7; count += 1) waits.push(await waited(backoff.wait(signal)));
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 15_000, 15_000]);
    await vi.advanceTimersByTimeAsync(61_000);
    expect(await waited(backoff.wait(signal))).toBe(500);
  });

  it("ends with the signal", async () => {
    vi.useFakeTimers();
    const ending = new AbortController();
    const waiting = createBackoff().wait(ending.signal);
    ending.abort();
    await waiting;
    expect(vi.getTimerCount()).toBe(0);
    await createBackoff().wait(ending.signal);
  });
});
