// npm run test:kill -- --times 1000: the kill test in its long form.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "./files.mjs";

const { values } = parseArgs({ options: { times: { type: "string", default: "1000" } } });
const { status } = spawnSync(join(root, "node_modules/.bin/vitest"), ["run", "packages/server/test/faults"], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, BURSAR_KILLS: values.times },
});
process.exit(status ?? 1);
