import { expect, it } from "vitest";
import { shareEvents } from "./share-events.js";

it("gives a busy log what quiet ones do not need", () => {
  const shares = shareEvents([50_000, ...Array<number>(199).fill(1)], 2000);
  expect(shares).toEqual([1801, ...Array<number>(199).fill(1)]);
});

it("gives the same number to logs that need more, in whatever order they are", () => {
  expect(shareEvents([900, 2, 900, 5], 107)).toEqual([50, 2, 50, 5]);
});

it("gives one to each log if there are more logs than events", () => {
  expect(shareEvents([3, 9, 1], 2)).toEqual([1, 1, 1]);
});
