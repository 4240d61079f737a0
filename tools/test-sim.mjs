// npm run test:sim -- --seeds 100000: the simulation in its long form. --seed 42 runs one seed alone and shows every step of it.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "./files.mjs";

const { values } = parseArgs({
  options: { seeds: { type: "string", default: "100000" }, seed: { type: "string", default: "0" } },
});
const { status } = spawnSync(
  join(root, "node_modules/.bin/vitest"),
  ["run", "packages/server/test/simulation/simulation.test.ts"],
  {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, BURSAR_SIM_SEEDS: values.seeds, BURSAR_SIM_SEED: values.seed },
  },
);
process.exit(status ?? 1);
