import type { Reporter, TestModule } from "vitest/node";

/** Closes the output with one line that people and scripts can read: `Tests: 12 passed, 0 failed`. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[test.result().state] += 1;
      // A file that does not load has no tests to fail, and is a failure all the same.
      if (module.state() === "failed" && module.errors().length > 0) counts.failed += 1;
    }
    const skipped = counts.skipped === 0 ? "" : `, ${counts.skipped} skipped`;
    process.on("exit", () =>
      process.stdout.write(`\nTests: ${counts.passed} passed, ${counts.failed} failed${skipped}\n`),
    );
  }
}
