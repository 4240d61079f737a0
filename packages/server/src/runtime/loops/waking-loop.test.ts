import { describe, expect, it } from "vitest";
import { createWakingLoop, type Rest } from "./waking-loop.js";

/** A loop whose timers fire only when the test says so, and whose steps are listed as they happen. */
function createWatchedLoop(plan: ((wake: () => void) => Rest)[]) {
  const happened: string[] = [];
  const waiting = new Map<number, () => void>();
  const loop = createWakingLoop({
    step: async () => {
      const next = plan.shift();
      if (next === undefined) return { pauseMs: 1000 };
      happened.push("step");
      return next(loop.wake);
    },
    onError: (error) => happened.push(String(error)),
    pauseAfterErrorMs: 500,
    timers: {
      after: (ms, work) => {
        happened.push(`rest ${ms}`);
        waiting.set(ms, work);
        return () => waiting.delete(ms);
      },
    },
  });
  const settle = async () => {
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };
  return {
    loop,
    happened,
    settle,
    runOut: async (ms: number) => {
      const work = waiting.get(ms);
      waiting.delete(ms);
      work?.();
      await settle();
    },
  };
}

describe("a loop that can be woken", () => {
  it("pauses until the time has passed or it is woken", async () => {
    const { loop, happened, settle, runOut } = createWatchedLoop([
      () => ({ pauseMs: 10 }),
      () => ({ pauseMs: 20 }),
      () => undefined,
    ]);
    loop.start();
    await settle();
    expect(happened).toEqual(["step", "rest 10"]);
    await runOut(10);
    expect(happened.slice(2)).toEqual(["step", "rest 20"]);
    loop.wake();
    await settle();
    expect(happened.slice(4)).toEqual(["step", "rest 1000"]);
    await loop.stop();
  });

  it("does not pause if it was woken during the step, but lingers all the same", async () => {
    const { loop, happened, settle, runOut } = createWatchedLoop([
      (wake) => {
        wake();
        return { pauseMs: 10 };
      },
      (wake) => {
        wake();
        return { lingerMs: 2 };
      },
    ]);
    loop.start();
    await settle();
    expect(happened).toEqual(["step", "step", "rest 2"]);
    loop.wake();
    await settle();
    expect(happened).toHaveLength(3);
    await runOut(2);
    expect(happened.slice(3)).toEqual(["rest 1000"]);
    await loop.stop();
  });

  it("rests after an error even if it was woken during the step, and continues", async () => {
    const { loop, happened, settle, runOut } = createWatchedLoop([
      (wake) => {
        wake();
        throw new Error("broken");
      },
      () => ({ pauseMs: 10 }),
    ]);
    loop.start();
    await settle();
    expect(happened).toEqual(["step", "Error: broken", "rest 500"]);
    await runOut(500);
    expect(happened.slice(3)).toEqual(["step", "rest 10"]);
    await loop.stop();
  });

  it("stops after the current step, and at once while it pauses", async () => {
    const { loop, happened, settle } = createWatchedLoop([() => ({ pauseMs: 10 }), () => ({ pauseMs: 10 })]);
    loop.start();
    await settle();
    await loop.stop();
    expect([happened, loop.isStopping()]).toEqual([["step", "rest 10"], true]);
  });
});
