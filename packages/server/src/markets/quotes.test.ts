import { expect, it } from "vitest";
import { createSeededRandom, moveMidPrice, planQuotes } from "./quotes.js";

it("quotes have both sides, never cross, and are the same for the same seed", () => {
  const plan = (seed: number) => planQuotes(3000, 1, createSeededRandom(seed));
  expect(plan(7)).toEqual(plan(7));
  expect(plan(7)).not.toEqual(plan(8));
  const prices = (side: string) => plan(7).flatMap((quote) => (quote.side === side ? [quote.price] : []));
  expect(Math.max(...prices("buy"))).toBeLessThan(Math.min(...prices("sell")));
  expect(plan(7).every(({ lots }) => lots > 0)).toBe(true);
});

it("a mid-price moves by a tick at most and stays near where it began", () => {
  const random = createSeededRandom(1);
  let midPrice = 1000;
  for (let step = 0; step < 10_000; step++) {
    const next = moveMidPrice(midPrice, 1000, random);
    expect(Math.abs(next - midPrice)).toBeLessThanOrEqual(1);
    expect(Math.abs(next - 1000)).toBeLessThanOrEqual(20);
    midPrice = next;
  }
});
