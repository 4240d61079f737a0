import { describe, expect, it } from "vitest";
import { chainBugs } from "./chain-bugs.js";
import { runChainSimulation } from "./run-chain-simulation.js";

const seedsMax = 500;

describe("a planted bug of a driver is caught", () => {
  // The search begins at a seed that has caught it, because others before it only cost time.
  it.each(chainBugs)("$name: $breaks", async (bug) => {
    const { firstSeed = 1, says } = bug;
    for (let seed = firstSeed; seed < firstSeed + seedsMax; seed++) {
      const { violations } = await runChainSimulation(seed, { bug });
      const caught = violations.find((one) => one.includes(says));
      if (caught === undefined) continue;
      process.stdout.write(`${bug.name}: caught by seed ${seed}: ${caught}\n`);
      expect((await runChainSimulation(seed, { kind: bug.world ?? "usual" })).violations).toEqual([]);
      return;
    }
    throw new Error(`${seedsMax} seeds did not see it`);
  });
});
