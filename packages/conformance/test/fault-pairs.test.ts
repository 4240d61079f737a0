import { it } from "vitest";
import { checkTable } from "../src/checks/table.js";
import { failedChecks, faultsBesidePairs, findEachAlone } from "./each-fault.js";
import { checksFor, isWhole } from "./faults/fault-reach.js";
import { type Fault, faultNames, faults } from "./faults/faults.js";
import { runPlain } from "./plain-target.js";
import { unnamedValues } from "./unnamed-values.js";
import { useVirtualTime } from "./virtual-time.js";

/** Two faults at once: the report names no check that is meant for a third. */

useVirtualTime();

const pairs = 50;
const seed = Number(process.env["BURSAR_CONFORMANCE_SEED"] ?? 20_261_116);

function pairAt(index: number) {
  // Two different numbers below the count of faults, from a hash of seed and index.
  const mix = (salt: number) => (Math.imul(seed + index * 2 + salt, 2_654_435_761) >>> 8) % faultNames.length;
  const first = mix(0);
  const second = (first + 1 + (mix(1) % (faultNames.length - 1))) % faultNames.length;
  return [faultNames[first] ?? "create-200", faultNames[second] ?? "unsigned"] as const;
}

const cases = Array.from({ length: pairs }, (_, index) => pairAt(index));
const wholePairs = new Set(cases.filter((_, index) => isWhole(index)));

it.for(cases)("%s and %s are found by their checks alone", async (pair, { expect }) => {
  const [one, other] = pair;
  const checks = wholePairs.has(pair) ? checkTable : checksFor(one, other);
  const results = await runPlain(pair, { checks });
  const found = failedChecks(results);
  expect(unnamedValues(results)).toEqual([]);
  const both: Fault[] = [faults[one], faults[other]];
  const meant = both.flatMap(({ check, also }) => [check, also]);
  expect(found.filter((id) => !meant.includes(id))).toEqual([]);
  expect(found.length).toBeGreaterThan(0);
});

findEachAlone(faultsBesidePairs);
