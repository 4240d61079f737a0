import { expect, it } from "vitest";
import { createSeededRandom, moveMiddle, planLadder } from "./ladder.js";

it("a ladder has both sides, never crosses, and is the same for the same seed", () => {
  const plan = (seed: number) => planLadder(3000, 1, createSeededRandom(seed));
  expect(plan(7)).toEqual(plan(7));
  expect(plan(7)).not.toEqual(plan(8));
  const prices = (side: string) => plan(7).flatMap((step) => (step.side === side ? [step.price] : []));
  expect(Math.max(...prices("buy"))).toBeLessThan(Math.min(...prices("sell")));
  expect(plan(7).every(({ lots }) => lots > 0)).toBe(true);
});

it("a middle moves by a tick at most and stays near where it began", () => {
  const random = createSeededRandom(1);
  let middle = 1000;
  for (let step = 0; step < 10_000; step++) {
    const next = moveMiddle(middle, 1000, random);
    expect(Math.abs(next - middle)).toBeLessThanOrEqual(1);
    expect(Math.abs(next - 1000)).toBeLessThanOrEqual(20);
    middle = next;
  }
});
