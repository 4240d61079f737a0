import { setTimeout as sleep } from "node:timers/promises";
import { describe, it, type TestContext } from "vitest";
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

/** Whether these are found depends on what happens within a second, which takes longer beside many others. */
export const ofTime: readonly FaultName[] = [
  "final-changes-later",
  "key-forgotten-after-a-minute",
  "key-forgotten-in-between",
  "key-forgotten-later",
  "key-forgotten-when-final",
  "retried-too-early",
  "stream-claims-future",
];

export const runsMax = 20;
const alwaysAtOnce = 10;
const lookMs = 30;
const lateMs = 8;

/**
 * Runs mostly wait, so that many at once leave less of a quiet machine unused. On a busy one, what is answered too late would be taken for
 * another fault: beyond a few, a run begins only if timers are on time, and one after the other.
 */
export function createPacing(atOnce = alwaysAtOnce): <T>(run: () => Promise<T>) => Promise<T> {
  let running = 0;
  let last = Promise.resolve();
  const isQuiet = async () => {
    const beganMs = performance.now();
    await sleep(lookMs);
    return performance.now() - beganMs - lookMs < lateMs;
  };
  const admit = async () => {
    while (running >= atOnce && !(await isQuiet()));
    running++;
  };
  return async (run) => {
    last = last.then(admit);
    await last;
    return run().finally(() => running--);
  };
}

/** These wait for all that a run has created, so they begin first. */
const longest: readonly FaultName[] = [
  "create-500-together",
  "final-in-a-race",
  "final-together",
  "race-carried-out",
  "race-of-many-creates-two",
  "two-bodies-create-two",
];

/** Every fault alone trips its check and no other one, so a failure names what is wrong. */
export function findEachAlone(names: readonly FaultName[], paced: ReturnType<typeof createPacing>): void {
  const find = async (name: FaultName, { expect }: Pick<TestContext, "expect">) => {
    const results = await paced(() => runPlain([name], { checks: checksOfFault(name) }));
    const { check, words, never, also }: Fault = faults[name];
    expect(failedChecks(results).filter((id) => id !== also)).toEqual([check]);
    expect(wordsOf(results, check)).toContain(words);
    if (never !== undefined) expect(wordsOf(results, check)).not.toContain(never);
    expect(unnamedValues(results)).toEqual([]);
    expect(missingExchanges(results)).toEqual([]);
  };
  describe.concurrent("a fault", () => {
    const others = names.filter((name) => !ofTime.includes(name) && !longest.includes(name));
    it.for([...longest.filter((name) => names.includes(name)), ...others])(
      "%s is found by its check alone",
      find,
    );
  });
  const namesOfTime = names.filter((name) => ofTime.includes(name));
  // Whether one of the files has some depends on the order of the faults.
  describe.skipIf(namesOfTime.length === 0)("a fault that concerns time", () => {
    it.concurrent.for(namesOfTime)("%s is found by its check alone", find);
  });
}
