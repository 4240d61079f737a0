import { defineConfig } from "vitest/config";

export default defineConfig({
  // Packages are tested from their sources, so that a test never sees an old build.
  resolve: { conditions: ["bursar:source"] },
  ssr: { resolve: { conditions: ["bursar:source"] } },
  test: {
    include: ["packages/*/src/**/*.test.ts", "packages/*/test/**/*.test.ts", "tools/**/*.test.ts"],
    globalSetup: ["packages/server/test/harness/postgres-for-tests.ts"],
    setupFiles: ["packages/server/test/harness/check-every-answer.ts"],
    reporters: ["default", "./tools/summary-reporter.ts"],
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
