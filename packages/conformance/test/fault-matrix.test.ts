import { describe, it } from "vitest";
import { checkTable } from "../src/checks/table.js";
import { faultsOfMatrix, findEachAlone } from "./each-fault.js";
import { faults } from "./faults/faults.js";
import { runPlain } from "./plain-target.js";
import { useVirtualTime } from "./virtual-time.js";

/** The faults alone; those that are not here are beside the pairs. */

useVirtualTime();

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

findEachAlone(faultsOfMatrix);
