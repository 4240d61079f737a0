import { describe, expect, it, vi } from "vitest";
import { checkTable } from "../src/checks/table.js";
import { faultsOfMatrix, findEachAlone } from "./each-fault.js";
import { faults } from "./faults.js";
import { runPlain } from "./plain-target.js";

/** The faults alone; those that are not here are beside the pairs. */

// A run mostly waits. With 12 together, the faults that concern time were found too late on a busy machine.
vi.setConfig({ maxConcurrency: 8 });

describe("the Plain server", () => {
  it("passes every check without a fault", async () => {
    const results = await runPlain([]);
    expect(results.filter(({ outcome }) => outcome.result !== "passed")).toEqual([]);
  });

  it("passes every check in another order", async () => {
    const results = await runPlain([], { seed: 7 });
    expect(results.filter(({ outcome }) => outcome.result !== "passed")).toEqual([]);
  });

  it("has a fault for every check", () => {
    const meant = new Set<string>(Object.values(faults).map(({ check }) => check));
    expect(checkTable.map(({ id }) => id).filter((id) => !meant.has(id))).toEqual([]);
  });
});

findEachAlone(faultsOfMatrix);
