import { expect, it } from "vitest";
import { settleInSlices, sliceItems } from "./settle-in-slices.js";

const items = Array.from({ length: 1000 }, (_, index) => index);

it("starts a slice at a time, each when it is its turn, and overlaps what the items wait for", async () => {
  const startedBeforeTurn: number[] = [];
  let started = 0;
  let finishAll: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => {
    finishAll = resolve;
  });
  const settled = await settleInSlices(
    items,
    async (item) => {
      started += 1;
      // None of the items is finished before the last one has started.
      if (started === items.length) finishAll();
      await finished;
      if (item === 500) throw new Error("one of them failed");
      return item;
    },
    async () => void startedBeforeTurn.push(started),
  );
  const slices = items.length / sliceItems;
  expect(startedBeforeTurn).toEqual(Array.from({ length: slices - 1 }, (_, n) => (n + 1) * sliceItems));
  expect(settled.map((one) => (one.status === "fulfilled" ? one.value : 500))).toEqual(items);
});
