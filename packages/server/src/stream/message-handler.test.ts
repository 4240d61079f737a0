import { expect, it } from "vitest";
import { createAllowance } from "./message-handler.js";

it("an allowance gives a burst at once, and then what time brings, but never more than the burst", () => {
  let now = 0;
  const { take } = createAllowance({ burst: 3, perSecond: 2 }, () => now);
  const takeAll = () => Array.from({ length: 6 }, take).filter(Boolean).length;
  expect(takeAll()).toBe(3);
  now += 1000;
  expect(takeAll()).toBe(2);
  now += 400;
  expect(takeAll()).toBe(0);
  now += 100;
  expect(takeAll()).toBe(1);
  now += 60_000;
  expect(takeAll()).toBe(3);
});
