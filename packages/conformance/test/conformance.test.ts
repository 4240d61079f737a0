import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { checkTable } from "../src/checks/table.js";
import { sentences } from "../src/contract/sentences.js";
import { prerequisites } from "../src/engine/run-checks.js";
import { faultNames, faults } from "./faults/faults.js";
import { runPlain } from "./plain-target.js";

/** A few faults; the proof `conformance` has all of them. */
it.each(["missing-key-accepted", "html-404"] as const)(
  "the kit finds the fault %s with the check that is meant for it",
  async (name) => {
    const results = await runPlain([name], { isSlow: false });
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

it("the decision about the kit has the number of faults", () => {
  const decision = readFileSync(
    new URL("../../../docs/decisions/0055-conformance-kit.md", import.meta.url),
    "utf8",
  );
  expect(decision).toContain(`${faultNames.length} faults and 50 pairs of faults`);
});

it("no check needs one that waits long, because only those that look at the whole run come after these", () => {
  const slow = new Set(checkTable.filter((check) => check.slow === true).map(({ id }) => id));
  const before = checkTable.filter(({ atEnd }) => atEnd !== true);
  expect(before.filter((check) => prerequisites(check).some((id) => slow.has(id)))).toEqual([]);
});

it("the committed report of Bursar has the result of every check; npm run report:conformance writes it", () => {
  const page = readFileSync(
    new URL("../../../docs/reference/conformance-report.html", import.meta.url),
    "utf8",
  );
  const shown = [...page.matchAll(/<td class="(\w+)">[^<]*<\/td><td><code>([^<]*)<\/code>/g)];
  const passed = new Set(shown.filter(([, result]) => result === "passed").map(([, , id]) => id));
  const expected = checkTable.filter((check) => check.slow !== true).map(({ id }) => id);
  expect(expected.filter((id) => !passed.has(id))).toEqual([]);
  expect(shown).toHaveLength(checkTable.length);
});
