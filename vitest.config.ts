import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./tools/longest-first.js";
import { shortSizes } from "./tools/proofs/proof-sizes.mjs";
import { proofFiles } from "./tools/proofs/proofs.mjs";

const client = fileURLToPath(new URL("packages/client/src", import.meta.url));

/** Packages are tested from their sources, so that a test never sees an old build. One that is published names no sources in its exports. */
const fromSource = {
  resolve: {
    conditions: ["bursar:source"],
    alias: [
      { find: /^@bursar\/client$/, replacement: `${client}/index.ts` },
      { find: /^@bursar\/client\/webhooks$/, replacement: `${client}/webhooks/index.ts` },
    ],
  },
  ssr: { resolve: { conditions: ["bursar:source"] } },
};

/**
 * The timeouts are ends for what hangs: a test that passes in seconds has minutes on a machine that is busy. Many tests wait, for a retry
 * or an expiry, so there are more workers than the two cores of CI.
 */
const limits = (maxWorkers: number) => ({
  maxWorkers,
  testTimeout: 240_000,
  hookTimeout: 240_000,
  expect: { poll: { timeout: 60_000 } },
});

/** Holds every answer of a service against the OpenAPI document. */
const setupFiles = ["packages/server/test/harness/http/check-every-answer.ts"];

/** CI names a folder for the modules as they are compiled for the tests, so that its second run does not compile them again. */
const modulesFolder = process.env["BURSAR_TEST_MODULES"];
const experimental =
  modulesFolder === undefined ? {} : { fsModuleCache: true, fsModuleCachePath: modulesFolder };

/**
 * All projects keep one module graph per worker, because loading it for each file took longer than the
 * tests. Each project is a group of its own, because a worker is only reused by files of the same project.
 */
export default defineConfig({
  test: {
    // One PostgreSQL for the whole run; projects inherit its address from the root.
    globalSetup: ["packages/server/test/harness/database/postgres-for-tests.ts"],
    reporters: ["default", "./tools/summary-reporter.ts"],
    sequence: { sequencer: LongestFirst },
    experimental,
    ...limits(3),
    projects: [
      {
        ...fromSource,
        test: {
          name: "unit",
          include: [
            "packages/*/src/**/*.test.ts",
            "packages/{cli,client,conformance,devnet,domain,signer}/test/**/*.test.ts",
            "tools/**/*.test.ts",
          ],
          exclude: proofFiles,
          isolate: false,
          sequence: { groupOrder: 1 },
          ...limits(3),
        },
      },
      {
        ...fromSource,
        test: {
          name: "integration",
          include: ["packages/server/test/integration/**/*.test.ts"],
          exclude: proofFiles,
          setupFiles,
          isolate: false,
          sequence: { groupOrder: 0 },
          ...limits(3),
        },
      },
      // Half of them mostly wait, and the others use all of the CPU: together they leave less of it unused than one after the other.
      {
        ...fromSource,
        test: {
          name: "proofs",
          include: proofFiles,
          setupFiles,
          env: shortSizes(),
          isolate: false,
          sequence: { groupOrder: 2 },
          ...limits(3),
        },
      },
    ],
  },
});
