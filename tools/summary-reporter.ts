import { appendFileSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";
import { root } from "./files.mjs";

const slowestMax = 20;

/**
 * Closes the output with the slowest files and one line that people and scripts can read: `Tests: 12 passed, 0 failed`.
 * `BURSAR_TEST_COUNTS` names a file that gets the two counts as a line of their own, for a script that adds up several runs.
 */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[test.result().state] += 1;
      // A file that does not load has no tests, and a hook belongs to no test, but each counts as a failure.
      for (const group of [module, ...module.children.allSuites()])
        if (group.state() === "failed" && group.errors().length > 0) counts.failed += 1;
    }
    const skipped = counts.skipped === 0 ? "" : `, ${counts.skipped} skipped`;
    const countsFile = process.env["BURSAR_TEST_COUNTS"];
    if (countsFile !== undefined) appendFileSync(countsFile, `${counts.passed} ${counts.failed}\n`);
    process.on("exit", () =>
      process.stdout.write(
        `${slowestFiles(modules)}\nTests: ${counts.passed} passed, ${counts.failed} failed${skipped}\n`,
      ),
    );
  }
}

/** The duration of a file includes its tests, its hooks and the time to load it. */
function slowestFiles(modules: readonly TestModule[]): string {
  if (modules.length <= slowestMax) return "";
  const lines = modules
    .map((module) => {
      const { duration, collectDuration } = module.diagnostic();
      return { path: relative(root, module.moduleId), ms: duration + collectDuration };
    })
    .sort((left, right) => right.ms - left.ms)
    .slice(0, slowestMax)
    .map(({ path, ms }) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${path}\n`);
  return `\nThe ${slowestMax} slowest of ${modules.length} files:\n${lines.join("")}`;
}
