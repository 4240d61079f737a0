import { checkTable } from "../../src/checks/table.js";
import type { Check } from "../../src/engine/check.js";
import { prerequisites } from "../../src/engine/run-checks.js";
import { type Fault, type FaultName, faultNames, faults } from "./faults.js";

/**
 * Which checks run with a fault. The long form runs the whole table with each, which shows that no check fails that does not depend on the
 * fault. The short form runs the check that is meant for it, with all that this one depends on, which shows that it is found and named; the
 * whole table runs with a part of them that is spread evenly.
 */
const isLong = process.env["BURSAR_CONFORMANCE_ALL"] === "1";
/** In the short form, the whole table runs with one of so many faults, pairs and choices. */
const wholeEach = 8;

export const isWhole = (index: number) => isLong || index % wholeEach === 0;

/** These checks and all that they need, in the order of the table. */
export function withNeeds(ids: Iterable<string>): readonly Check[] {
  const all = new Set(ids);
  // A check comes after those that it needs.
  for (const check of checkTable.toReversed())
    if (all.has(check.id)) for (const id of prerequisites(check)) all.add(id);
  return checkTable.filter(({ id }) => all.has(id));
}

export function checksFor(...names: readonly FaultName[]): readonly Check[] {
  const all: Fault[] = names.map((name) => faults[name]);
  // What a fault does to the requests of other checks is seen only if these run.
  if (all.some(({ isSeenInOthers }) => isSeenInOthers === true)) return checkTable;
  return withNeeds(all.flatMap(({ check, also }) => (also === undefined ? [check] : [check, also])));
}

export const checksOfFault = (name: FaultName) =>
  isWhole(faultNames.indexOf(name)) ? checkTable : checksFor(name);
