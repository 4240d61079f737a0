import type { CheckResult } from "../src/engine/run-checks.js";

/** Everything that the report says about the checks, which a reader has to understand. */
const sentencesOf = (results: readonly CheckResult[]) =>
  results.flatMap(({ check, outcome }) => {
    if (outcome.result === "failed") return [`${check.id}: ${outcome.expected}; ${outcome.seen}`];
    return "reason" in outcome ? [`${check.id}: ${outcome.reason}`] : [];
  });

/** Sentences that name a value by what JavaScript calls it. */
export const unnamedValues = (results: readonly CheckResult[]) =>
  sentencesOf(results).filter((text) => /\bundefined\b|\ba object\b|\[object |\bNaN\b/.test(text));
