import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { untilDone } from "./until-done";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const isEnded = (state: string) => state === "cancelled";

async function waitFor(states: readonly string[]): Promise<boolean> {
  const left = [...states];
  const waiting = untilDone(async () => {
    const next = left.length > 1 ? left.shift() : left[0];
    if (next === "lost") throw new Error("no connection");
    return next ?? "";
  }, isEnded);
  await vi.advanceTimersByTimeAsync(10_000);
  return await waiting;
}

it("a request about an order is done when the order says so, and not when it was traded in part meanwhile", async () => {
  expect(await waitFor(["open", "partially_filled", "cancelled"])).toBe(true);
});

it("a request that the market does not carry out soon, or of which nothing is known, is not taken for done", async () => {
  expect(await waitFor(["open", "partially_filled"])).toBe(false);
  expect(await waitFor(["open", "lost"])).toBe(false);
});
