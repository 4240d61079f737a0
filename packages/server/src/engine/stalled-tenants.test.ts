import { expect, it } from "vitest";
import { createStalledTenants } from "./stalled-tenants.js";

function stalledAt() {
  let nowMs = 0;
  const stalled = createStalledTenants(() => nowMs);
  const isDueAt = (ms: number) => {
    nowMs = ms;
    return stalled.takeDue("without turn") !== undefined;
  };
  return { stalled, isDueAt };
}

it("serves a stalled tenant after pauses that double, and at once after it was served without waiting", () => {
  const { stalled, isDueAt } = stalledAt();
  stalled.add("a");
  expect([isDueAt(99), isDueAt(100)]).toEqual([false, true]);
  stalled.add("a");
  expect([isDueAt(299), isDueAt(300)]).toEqual([false, true]);
  stalled.served("a");
  stalled.add("a");
  expect([isDueAt(399), isDueAt(400)]).toEqual([false, true]);
});

it("leaves the turns of other tenants to them", () => {
  const { stalled } = stalledAt();
  stalled.add("a");
  const other = { tenantId: "b", fromMs: 1 };
  expect(stalled.keepTurns([{ tenantId: "a", fromMs: 3 }, other])).toEqual([other]);
});

it("takes other tenants each time, with their turns, and lets one back among the others a minute after its last lock", () => {
  let nowMs = 0;
  const stalled = createStalledTenants(() => nowMs);
  for (const tenantId of ["a", "b", "c"]) stalled.add(tenantId);
  stalled.keepTurns([7, 4].map((fromMs) => ({ tenantId: "b", fromMs })));
  nowMs = 100;
  expect(stalled.dueInMs()).toBe(0);
  const takeOne = (also?: "without turn") => {
    const due = stalled.takeDue(also);
    return due && [due.tenantId, due.turn?.fromMs];
  };
  expect([takeOne(), takeOne(), stalled.dueInMs()]).toEqual([["b", 4], undefined, Number.POSITIVE_INFINITY]);
  const takeAny = () => takeOne("without turn");
  expect([takeAny(), takeAny(), takeAny(), takeAny(), takeAny()]).toEqual([
    ["a", undefined],
    ["c", undefined],
    ["b", undefined],
    ["a", undefined],
    ["c", undefined],
  ]);
  nowMs = 59_999;
  expect(stalled.list()).toHaveLength(3);
  nowMs = 60_000;
  expect(stalled.list()).toEqual([]);
});

it("makes all due when one of them was served after a lock, and forgets those that were only suspected", () => {
  const { stalled, isDueAt } = stalledAt();
  for (const tenantId of ["a", "b"]) stalled.add(tenantId);
  stalled.suspect(["b", "c"]);
  expect(stalled.takeDue("without turn")?.tenantId).toBe("c");
  stalled.served("c");
  expect([stalled.list(), isDueAt(0)]).toEqual([["a", "b"], false]);
  stalled.served("a");
  expect(isDueAt(0)).toBe(true);
});
