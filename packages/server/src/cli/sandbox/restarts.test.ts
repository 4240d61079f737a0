import { describe, expect, it } from "vitest";
import { createRestarts } from "./restarts.js";

describe("the restarts of a process", () => {
  it("wait longer each time, and end after ten", () => {
    const restarts = createRestarts(() => 0);
    const delays = Array.from({ length: 11 }, () => {
      restarts.started();
      return restarts.ended();
    });
    expect(delays).toEqual([
      ...[500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000, 30_000],
      undefined,
    ]);
    expect(restarts.count()).toBe(11);
  });

  it("are counted from zero again once the process has run for a minute, every time that happens", () => {
    const clock = { ms: 0 };
    const restarts = createRestarts(() => clock.ms);
    for (let count = 0; count < 100; count++) {
      restarts.started();
      clock.ms += 60_000;
      expect(restarts.ended()).toBe(500);
      // A start that fails is not a minute in which it ran.
      clock.ms += 60_000;
      expect(restarts.ended()).toBe(1000);
    }
  });
});
