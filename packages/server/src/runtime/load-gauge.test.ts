import { beforeEach, describe, expect, it } from "vitest";
import { createLoadGauge, type LoadGauge } from "./load-gauge.js";

describe("the load gauge", () => {
  let [nowMs, waitMs] = [0, 0];
  let due: (() => void) | undefined;
  let changes: boolean[];
  let gauge: LoadGauge;
  beforeEach(() => {
    [nowMs, waitMs, changes] = [0, 0, []];
    gauge = createLoadGauge({
      bounds: { acceptWaitMs: 1000, eventLoopDelayMs: 200 },
      acceptWaitMs: () => waitMs,
      onChange: ({ isOverloaded }) => changes.push(isOverloaded),
      monotonicMs: () => nowMs,
      timers: {
        after: (_delayMs, work) => {
          due = work;
          return () => {
            due = undefined;
          };
        },
      },
    });
    gauge.start();
  });
  /** The next look, so much later than it was due. */
  const look = (lateMs = 0) => {
    nowMs += 50 + lateMs;
    due?.();
    return gauge.isOverloaded();
  };

  it("is overloaded while requests wait too long to be written, and until they wait half as long", () => {
    const seen = [900, 1001, 600, 501, 500, 900].map((ms) => {
      waitMs = ms;
      return look();
    });
    expect(seen).toEqual([false, true, true, true, false, false]);
    expect(changes).toEqual([true, false]);
  });

  it("is overloaded when the event loop runs late again and again, not once", () => {
    expect(look(390)).toBe(false);
    look();
    expect([look(300), look(300)]).toEqual([false, true]);
    expect([look(), look(), look()]).toEqual([true, false, false]);
  });

  it("is not overloaded by one pause, however long", () => {
    expect([look(10_000), look(), look(10_000), look()]).toEqual([false, false, false, false]);
    expect([look(10_000), look(10_000)]).toEqual([false, true]);
  });

  it("stops looking", () => {
    gauge.stop();
    expect(due).toBeUndefined();
  });
});
