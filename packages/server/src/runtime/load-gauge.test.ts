import { beforeEach, describe, expect, it } from "vitest";
import { createLoadGauge, type LoadGauge } from "./load-gauge.js";

describe("the load gauge", () => {
  let [nowMs, waitMs, writeMs, cpuMs] = [0, 0, 0, 0];
  let due: (() => void) | undefined;
  let changes: boolean[];
  let gauge: LoadGauge;
  beforeEach(() => {
    [nowMs, waitMs, writeMs, cpuMs, changes] = [0, 0, 0, 0, []];
    gauge = createLoadGauge({
      bounds: { acceptWaitMs: 1000, eventLoopDelayMs: 200 },
      acceptWaitMs: () => waitMs,
      acceptWriteMs: () => writeMs,
      onChange: ({ isOverloaded }) => changes.push(isOverloaded),
      monotonicMs: () => nowMs,
      cpuMs: () => cpuMs,
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
  /** The next look, so much later than it was due, because of so much work of its own. */
  const look = (lateMs = 0, usedMs = 50 + lateMs) => {
    nowMs += 50 + lateMs;
    cpuMs += usedMs;
    due?.();
    return gauge.reading().isOverloaded;
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

  it("is not overloaded if other programs keep the event loop from running", () => {
    expect([look(1000, 30), look(1000, 30), look(1000, 30)]).toEqual([false, false, false]);
    expect([look(1000, 500), look(1000, 500)]).toEqual([false, true]);
  });

  it("is severely overloaded while a single write takes too long, and until it takes half as long", () => {
    const seen = [
      [5000, 900],
      [5000, 1001],
      [5000, 501],
      [5000, 500],
    ].map((times) => {
      [waitMs, writeMs] = times as [number, number];
      look();
      return gauge.reading().isSevere;
    });
    expect(seen).toEqual([false, true, true, false]);
  });

  it("stops looking", () => {
    gauge.stop();
    expect(due).toBeUndefined();
  });
});
