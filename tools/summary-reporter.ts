import { appendFileSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter, SerializedError, TestModule } from "vitest/node";
import { root } from "./files.mjs";

const slowestMax = 20;
const failuresMax = 50;
const lineMax = 300;

/**
 * Closes the output with the slowest files, what failed, and one line that people and scripts can read: `Tests: 12 passed, 0 failed`.
 * `BURSAR_TEST_COUNTS` names a file that gets the two counts as a line of their own and what failed, for a script that adds up several runs.
 */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const counts = { passed: 0, skipped: 0, pending: 0 };
    const failures: string[] = [];
    for (const module of modules) {
      const path = relative(root, module.moduleId);
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result();
        if (state === "failed")
          failures.push(`${path} > ${test.fullName}: ${firstLine(errors?.[0]?.message)}`);
        else counts[state] += 1;
      }
      // A file that does not load has no tests, and a hook belongs to no test, but each counts as a failure.
      for (const group of [module, ...module.children.allSuites()])
        if (group.state() === "failed" && group.errors().length > 0)
          failures.push(`${path}: ${group.errors()[0]?.message ?? "a hook failed"}`);
    }
    // An error that no test awaited fails the run although all tests pass.
    for (const error of unhandled) failures.push(`An unhandled error: ${error.stack ?? error.message}`);
    const skipped = counts.skipped === 0 ? "" : `, ${counts.skipped} skipped`;
    const countsFile = process.env["BURSAR_TEST_COUNTS"];
    if (countsFile !== undefined)
      appendFileSync(countsFile, `${counts.passed} ${failures.length}\n${listFailures(failures)}`);
    process.on("exit", () =>
      process.stdout.write(
        `${slowestFiles(modules)}\n${listFailures(failures)}` +
          `Tests: ${counts.passed} passed, ${failures.length} failed${skipped}\n`,
      ),
    );
  }
}

function firstLine(message = "no message"): string {
  return (message.split("\n", 1)[0] ?? "").slice(0, lineMax);
}

/** Printed last, because of a long output often only the end is kept. */
function listFailures(failures: readonly string[]): string {
  const times = new Map<string, number>();
  for (const failure of failures) times.set(failure, (times.get(failure) ?? 0) + 1);
  return [...times]
    .slice(0, failuresMax)
    .map(([failure, count]) => `failed: ${failure}${count === 1 ? "" : ` (${count} times)`}\n`)
    .join("");
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
