import { expect, it } from "vitest";
import { checkTable } from "../src/checks/table.js";
import { sentences } from "../src/contract/sentences.js";
import { prerequisites } from "../src/engine/run-checks.js";
import { faults } from "./faults.js";
import { runPlain } from "./plain-target.js";

/** A few faults; the proof `conformance` has all of them. */
it.each(["missing-key-accepted", "html-404"] as const)(
  "the kit finds the fault %s with the check that is meant for it",
  async (name) => {
    const results = await runPlain([name]);
    const failed = results.filter(({ outcome }) => outcome.result === "failed").map(({ check }) => check.id);
    expect(failed).toEqual([faults[name].check]);
  },
);

it("every check has an id of its own and comes after those that it needs", () => {
  const known = new Set<string>();
  for (const check of checkTable) {
    expect(prerequisites(check).filter((id) => !known.has(id))).toEqual([]);
    expect(known.has(check.id)).toBe(false);
    known.add(check.id);
  }
});

it("every sentence of the contract has a check or says why it has none", () => {
  const tested = new Set(checkTable.flatMap((check) => (check.level === "contract" ? [check.sentence] : [])));
  const silent = Object.entries(sentences).filter(
    ([id, sentence]) => tested.has(id as keyof typeof sentences) === "untested" in sentence,
  );
  expect(silent).toEqual([]);
});
