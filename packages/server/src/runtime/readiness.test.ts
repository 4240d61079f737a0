import { expect, it } from "vitest";
import { findFaults } from "./readiness.js";

it("a process is not ready while it starts or stops, and while its clock differs", () => {
  const faultsOf = (state: "starting" | "ready" | "stopping", clock?: string) =>
    findFaults({ state: () => state, clockFault: () => clock });
  expect(faultsOf("ready")).toEqual([]);
  expect(faultsOf("stopping")).toEqual([{ path: "service", reason: "is stopping" }]);
  expect(faultsOf("starting", "differs by 7 s")).toEqual([
    { path: "service", reason: "is starting" },
    { path: "clock", reason: "differs by 7 s" },
  ]);
});
