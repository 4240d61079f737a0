import { expect, it } from "vitest";
import { settleInSlices, sliceItems } from "./settle-in-slices.js";

it("starts a few items in each turn of the event loop, so that other requests are served in between", async () => {
  let startedInTurn = 0;
  let most = 0;
  let isDone = false;
  const countTurn = () => {
    startedInTurn = 0;
    if (!isDone) setImmediate(countTurn);
  };
  setImmediate(countTurn);
  const items = Array.from({ length: 1000 }, (_, index) => index);
  const settled = await settleInSlices(items, async (item) => {
    startedInTurn += 1;
    most = Math.max(most, startedInTurn);
    if (item === 500) throw new Error("one of them failed");
    return item;
  });
  isDone = true;
  // The counter and the slices alternate, in either order.
  expect(most).toBeLessThanOrEqual(2 * sliceItems);
  expect(settled.map((one) => (one.status === "fulfilled" ? one.value : 500))).toEqual(items);
});
