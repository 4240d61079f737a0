import { expect, it } from "vitest";
import { createYieldingTurns } from "./yielding-turns.js";

/** Each turn of the event loop takes a millisecond. Turns and rests end when the test says so. */
function createWorld(restPerWork: (tenantId: string) => number) {
  let nowMs = 0;
  const ends: (() => void)[] = [];
  const rests: { ms: number; end: () => void }[] = [];
  const turns = createYieldingTurns(100, {
    restPerWork,
    monotonicMs: () => nowMs,
    timers: {
      soon: (work) => ends.push(work),
      after: (ms, end) => {
        rests.push({ ms, end });
        return () => undefined;
      },
    },
  });
  const begun: string[] = [];
  return {
    begun,
    rests,
    take: async (tenantId: string) => {
      await turns.take(tenantId, "e");
      begun.push(tenantId);
    },
    endTurns: async (count: number) => {
      for (let turn = 0; turn < count; turn++) {
        nowMs += 1;
        for (const end of ends.splice(0)) end();
        await new Promise(setImmediate);
      }
    },
  };
}

it("rests for a multiple of its work while other tenants are served, and then goes on", async () => {
  const { take, endTurns, begun, rests } = createWorld(() => 3);
  for (let piece = 0; piece < 9; piece++) void take("a");
  await endTurns(20);
  expect(begun).toHaveLength(4);
  expect(rests.map(({ ms }) => ms)).toEqual([12]);
  rests[0]?.end();
  await endTurns(20);
  expect(begun).toHaveLength(8);
});

it("begins the work of another tenant while that of the first rests", async () => {
  const { take, endTurns, begun } = createWorld((tenantId) => (tenantId === "a" ? 3 : 0));
  for (let piece = 0; piece < 9; piece++) void take("a");
  await endTurns(20);
  for (let piece = 0; piece < 9; piece++) void take("b");
  await endTurns(20);
  expect(begun.filter((tenantId) => tenantId === "a")).toHaveLength(4);
  expect(begun.filter((tenantId) => tenantId === "b")).toHaveLength(9);
});

it("never rests while no other tenant needs the time", async () => {
  const { take, endTurns, begun, rests } = createWorld(() => 0);
  for (let piece = 0; piece < 9; piece++) void take("a");
  await endTurns(20);
  expect(begun).toHaveLength(9);
  expect(rests).toEqual([]);
});
