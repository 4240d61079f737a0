import type { Check } from "../engine/check.js";
import { prerequisites } from "../engine/run-checks.js";
import { UsageFault } from "../target/read-values.js";

/** The checks that were asked for, and those that they need. */
export function selectChecks(
  table: readonly Check[],
  only: readonly string[] = [],
  skip: readonly string[] = [],
): Check[] {
  const matches = (pattern: string) => (check: Check) =>
    check.id === pattern || check.id.startsWith(`${pattern}.`);
  for (const pattern of [...only, ...skip])
    if (!table.some(matches(pattern)))
      throw new UsageFault(`No check is named ${pattern} or begins with it; --list shows them.`);
  const chosen = new Set<string>();
  const add = (check: Check) => {
    if (chosen.has(check.id)) return;
    chosen.add(check.id);
    for (const id of prerequisites(check)) {
      const needed = table.find((one) => one.id === id);
      if (needed !== undefined) add(needed);
    }
  };
  for (const check of table)
    if (only.length === 0 || only.some((pattern) => matches(pattern)(check))) add(check);
  return table.filter((check) => chosen.has(check.id) && !skip.some((pattern) => matches(pattern)(check)));
}
