import { describe, it, vi } from "vitest";
import { checkTable } from "../src/checks/table.js";
import { createPacing, faultsOfMatrix, findEachAlone, runsMax } from "./each-fault.js";
import { faults } from "./faults/faults.js";
import { runPlain } from "./plain-target.js";

/** The faults alone; those that are not here are beside the pairs. */

vi.setConfig({ maxConcurrency: runsMax });

// Beside nothing else, because what comes too late is taken for a fault.
describe("the Plain server", () => {
  it.for([undefined, 7])(
    "passes every check without a fault, in the order of seed %s",
    async (seed, { expect }) => {
      const results = await runPlain([], { seed });
      expect(results.filter(({ outcome }) => outcome.result !== "passed")).toEqual([]);
    },
  );

  it("has a fault for every check", ({ expect }) => {
    const meant = new Set<string>(Object.values(faults).map(({ check }) => check));
    expect(checkTable.map(({ id }) => id).filter((id) => !meant.has(id))).toEqual([]);
  });
});

findEachAlone(faultsOfMatrix, createPacing());
