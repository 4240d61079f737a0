import { expect, it } from "vitest";
import { createBlockPace } from "./block-pace.js";

it("looks for blocks as fast as they come, but only while something is open", () => {
  let nowMs = 0;
  const pace = createBlockPace({ pollEveryMs: 1000, monotonicMs: () => nowMs });
  const seeAfter = (ms: number, headNumber: number) => {
    nowMs += ms;
    pace.see(headNumber);
    return pace.pauseMs(true);
  };
  expect(seeAfter(0, 7)).toBe(1000);
  expect(seeAfter(12_000, 8)).toBe(1000);
  expect(seeAfter(1200, 10)).toBe(300);
  expect(seeAfter(50, 10)).toBe(300);
  // Blocks that come faster than nodes may be asked, and a node that lags.
  expect(seeAfter(200, 15)).toBe(200);
  expect(seeAfter(10, 14)).toBe(200);
  expect(pace.pauseMs(false)).toBe(1000);
});
