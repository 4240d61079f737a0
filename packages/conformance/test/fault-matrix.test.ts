import { describe, expect, it, vi } from "vitest";
import { checkTable } from "../src/checks/table.js";
import type { CheckResult } from "../src/engine/run-checks.js";
import { type Fault, type FaultName, faultNames, faults } from "./faults.js";
import { runPlain } from "./plain-target.js";

/** Every fault alone trips its check and no other one, so a failure names what is wrong. */

// A run mostly waits. With 12 together, the faults that concern time were found too late on a busy machine.
vi.setConfig({ maxConcurrency: 8 });

const failed = (results: readonly CheckResult[]) =>
  results
    .filter(({ outcome }) => outcome.result === "failed" || outcome.result === "broken")
    .map(({ check }) => check.id);

const wordsOf = (results: readonly CheckResult[], id: string) => {
  const outcome = results.find(({ check }) => check.id === id)?.outcome;
  return outcome?.result === "failed" ? `expected ${outcome.expected}; seen ${outcome.seen}` : "";
};

describe("the Plain server", () => {
  it("passes every check without a fault", async () => {
    const results = await runPlain([]);
    expect(results.filter(({ outcome }) => outcome.result !== "passed")).toEqual([]);
  });

  it("passes every check in another order", async () => {
    const results = await runPlain([], 7);
    expect(results.filter(({ outcome }) => outcome.result !== "passed")).toEqual([]);
  });

  it("has a fault for every check", () => {
    const meant = new Set<string>(Object.values(faults).map(({ check }) => check));
    expect(checkTable.map(({ id }) => id).filter((id) => !meant.has(id))).toEqual([]);
  });
});

describe.concurrent("a fault", () => {
  it.for(faultNames)("%s is found by its check alone", async (name: FaultName, { expect: own }) => {
    const results = await runPlain([name]);
    const { check, words }: Fault = faults[name];
    own(failed(results)).toEqual([check]);
    own(wordsOf(results, check)).toContain(words);
  });
});
