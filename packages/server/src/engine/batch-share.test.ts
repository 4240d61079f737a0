import { expect, it } from "vitest";
import { createBatchShareKeeper } from "./batch-share.js";

it("halves a batch that fails, passes over a row that fails alone, and tries it again after a while", () => {
  let now = 0;
  const keeper = createBatchShareKeeper(8, () => now);
  const fail = (isUnavailable = false) => {
    keeper.failed(isUnavailable);
    return Object.values(keeper.share());
  };
  expect(Object.values(keeper.share())).toEqual([8, 0]);
  expect([fail(), fail(), fail(), fail(), fail()]).toEqual([
    [4, 0],
    [2, 0],
    [1, 0],
    [1, 1],
    [1, 2],
  ]);
  // Nobody is to blame where the database is away.
  expect(fail(true)).toEqual([1, 2]);
  keeper.succeeded();
  keeper.succeeded();
  expect(Object.values(keeper.share())).toEqual([4, 2]);
  now += 60_000;
  expect(Object.values(keeper.share())).toEqual([4, 0]);
});
