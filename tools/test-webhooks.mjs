// npm run test:webhooks -- --deliveries 50000 --endpoints 100: the test of webhooks under faults in its long form.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "./files.mjs";

const { values } = parseArgs({
  options: {
    deliveries: { type: "string", default: "50000" },
    endpoints: { type: "string", default: "100" },
    kills: { type: "string", default: "5" },
    seed: { type: "string" },
  },
});
const { status } = spawnSync(
  join(root, "node_modules/.bin/vitest"),
  ["run", "packages/server/test/faults/webhook-storm.test.ts"],
  {
    cwd: root,
    stdio: "inherit",
    env: {
      ...process.env,
      BURSAR_STORM_DELIVERIES: values.deliveries,
      BURSAR_STORM_ENDPOINTS: values.endpoints,
      BURSAR_STORM_KILLS: values.kills,
      ...(values.seed === undefined ? {} : { BURSAR_STORM_SEED: values.seed }),
    },
  },
);
process.exit(status ?? 1);
