import { expect, it } from "vitest";
import {
  type CallInPartsDeps,
  createBatchSize,
  createCallInParts,
  type PartOutcome,
} from "./call-in-parts.js";
import type { RpcCall } from "./rpc-endpoint.js";

const numbered = (count: number): RpcCall[] =>
  Array.from({ length: count }, (_, index) => ({ method: "eth_call", params: [index] }));
const results = (calls: readonly RpcCall[]) => calls.map(({ params }) => ({ result: params[0] }));
const refused: PartOutcome = { unavailable: "refused", again: "refused" };

/** Time passes only while something waits. */
function createParts(given: Pick<CallInPartsDeps, "exchange"> & Partial<CallInPartsDeps>) {
  const clock = { nowMs: 0 };
  const monotonicMs = () => clock.nowMs;
  const size = createBatchSize(monotonicMs);
  const call = createCallInParts({
    ...{ size, monotonicMs, limitPauseMs: () => undefined },
    sleep: async (delayMs) => {
      clock.nowMs += delayMs;
    },
    ...given,
  });
  return { call, clock, size };
}

it("a call that meets nothing but the pause of others has 30 s", async () => {
  let pauses = 0;
  const { call, clock } = createParts({
    exchange: async () => undefined,
    limitPauseMs: () => {
      pauses += 1;
      return pauses < 1000 ? 1000 : undefined;
    },
  });
  const outcomes = await call(numbered(1), "strict");
  expect(outcomes).toEqual([{ unavailable: "it refuses for now, because it was asked too often" }]);
  expect(clock.nowMs).toBe(30_000);
});

it("one of several senders that meet a pause in the same turn waits for it", async () => {
  let asked = 0;
  const { call, clock } = createParts({
    exchange: async (calls) => {
      asked += 1;
      return asked <= 4 ? undefined : results(calls);
    },
    limitPauseMs: () => 700,
  });
  expect(await call(numbered(400))).toEqual(results(numbered(400)));
  expect(clock.nowMs).toBe(700);
});

it.each([
  ["any", true],
  ["strict", true],
  ["foreign", false],
  ["brief", false],
] as const)("a refused batch of the manner %s makes the next ones smaller: %s", async (manner, isLearned) => {
  const { call, size } = createParts({
    exchange: async (calls) => (calls.length > 5 ? calls.map(() => refused) : results(calls)),
  });
  expect(await call(numbered(20), manner)).toEqual(results(numbered(20)));
  expect(size.max() < 100).toBe(isLearned);
});

it.each([
  ["brief", 3000],
  ["foreign", 30_000],
] as const)("the parts of a batch of the manner %s have %i ms together", async (manner, boundMs) => {
  const { call, clock } = createParts({
    exchange: async (calls) => {
      clock.nowMs += 1000;
      return calls.length > 1 ? calls.map(() => refused) : results(calls);
    },
  });
  const outcomes = await call(numbered(64), manner);
  expect(outcomes.at(-1)).toEqual({ unavailable: "it takes too long for the parts of a batch" });
  expect(clock.nowMs).toBeGreaterThanOrEqual(boundMs);
  // What is under way when the time has ended is waited for.
  expect(clock.nowMs).toBeLessThan(boundMs + 4000);
});
