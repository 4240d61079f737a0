// npm run test:stream -- --cuts 200 --events 20000 --kills 20 --deltas 100000: the stream's fault tests in their long form.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "./files.mjs";

const { values } = parseArgs({
  options: {
    cuts: { type: "string", default: "200" },
    events: { type: "string", default: "20000" },
    kills: { type: "string", default: "20" },
    deltas: { type: "string", default: "100000" },
  },
});
const { status } = spawnSync(
  join(root, "node_modules/.bin/vitest"),
  ["run", "packages/server/test/faults/stream.test.ts", "packages/server/test/faults/stream-deltas.test.ts"],
  {
    cwd: root,
    stdio: "inherit",
    env: {
      ...process.env,
      BURSAR_CUTS: values.cuts,
      BURSAR_EVENTS: values.events,
      BURSAR_STREAM_KILLS: values.kills,
      BURSAR_DELTAS: values.deltas,
    },
  },
);
process.exit(status ?? 1);
