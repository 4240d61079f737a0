// npm run test:fuzz -- --requests 100000: requests made from the OpenAPI document, in the long form. --seed 42 begins there again.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "./files.mjs";

const { values } = parseArgs({
  options: { requests: { type: "string", default: "100000" }, seed: { type: "string", default: "1" } },
});
const { status } = spawnSync(
  join(root, "node_modules/.bin/vitest"),
  ["run", "packages/server/test/fuzz/fuzz.test.ts"],
  {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, BURSAR_FUZZ_REQUESTS: values.requests, BURSAR_FUZZ_SEED: values.seed },
  },
);
process.exit(status ?? 1);
