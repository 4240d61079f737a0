import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runRegularly } from "./run-regularly.js";

describe("regular work", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("does not begin again while it takes longer than the interval", async () => {
    let running = 0;
    let runs = 0;
    const slow = async () => {
      runs += 1;
      running += 1;
      expect(running).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 250));
      running -= 1;
    };
    const stop = runRegularly({ intervalMs: 100, jobs: [slow, slow], onError: () => expect.unreachable() });
    await vi.advanceTimersByTimeAsync(550);
    expect(runs).toBe(2);
    await vi.advanceTimersByTimeAsync(200);
    expect(runs).toBe(3);
    stop();
    await vi.advanceTimersByTimeAsync(2000);
    expect(runs).toBe(3);
  });

  it("goes on with the next job if one fails", async () => {
    const done: string[] = [];
    const jobs = [
      () => Promise.reject(new Error("failed")),
      async () => {
        done.push("next");
      },
    ];
    const errors: unknown[] = [];
    const stop = runRegularly({ intervalMs: 100, jobs, onError: (error) => errors.push(error) });
    await vi.advanceTimersByTimeAsync(250);
    expect([done.length, errors.length]).toEqual([2, 2]);
    stop();
  });
});
