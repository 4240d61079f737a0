import { it } from "vitest";
import type { CheckResult } from "../src/engine/run-checks.js";
import { checksOfFault } from "./faults/fault-reach.js";
import { type Fault, type FaultName, faultNames, faults } from "./faults/faults.js";
import { missingExchanges } from "./missing-exchanges.js";
import { runPlain } from "./plain-target.js";
import { unnamedValues } from "./unnamed-values.js";

/** A third of the faults is found beside the pairs, so that two files take about as long on two cores. */
export const faultsBesidePairs = faultNames.filter((_, index) => index % 3 === 0);
export const faultsOfMatrix = faultNames.filter((_, index) => index % 3 !== 0);

/** The checks that failed. */
export const failedChecks = (results: readonly CheckResult[]) =>
  results
    .filter(({ outcome }) => outcome.result === "failed" || outcome.result === "broken")
    .map(({ check }) => check.id);

const wordsOf = (results: readonly CheckResult[], id: string) => {
  const outcome = results.find(({ check }) => check.id === id)?.outcome;
  return outcome?.result === "failed" ? `expected ${outcome.expected}; seen ${outcome.seen}` : "";
};

/** Every fault alone trips its check and no other one, so a failure names what is wrong. */
export function findEachAlone(names: readonly FaultName[]): void {
  it.for(names)("%s is found by its check alone", async (name, { expect }) => {
    const results = await runPlain([name], { checks: checksOfFault(name) });
    const { check, words, never, also }: Fault = faults[name];
    expect(failedChecks(results).filter((id) => id !== also)).toEqual([check]);
    expect(wordsOf(results, check)).toContain(words);
    if (never !== undefined) expect(wordsOf(results, check)).not.toContain(never);
    expect(unnamedValues(results)).toEqual([]);
    expect(missingExchanges(results)).toEqual([]);
  });
}
