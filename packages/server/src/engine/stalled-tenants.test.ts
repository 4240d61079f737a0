import { expect, it } from "vitest";
import { createStalledTenants } from "./stalled-tenants.js";

function stalledAt() {
  let nowMs = 0;
  const stalled = createStalledTenants(() => nowMs);
  const isDueAt = (ms: number) => {
    nowMs = ms;
    return stalled.takeDue(10).length > 0;
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
  const takeOne = () => stalled.takeDue(1).map(({ tenantId, turn }) => [tenantId, turn?.fromMs]);
  expect([takeOne(), takeOne(), takeOne(), takeOne(), takeOne()].flat()).toEqual([
    ["a", undefined],
    ["b", 4],
    ["c", undefined],
    ["a", undefined],
    ["b", undefined],
  ]);
  nowMs = 59_999;
  expect(stalled.list()).toHaveLength(3);
  nowMs = 60_000;
  expect(stalled.list()).toEqual([]);
});
