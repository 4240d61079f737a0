// Checks and tests the alert rules with promtool, which comes with Prometheus (Debian: `apt install prometheus`). Without it there is
// nothing to check with, and a note says so.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { root } from "./files.mjs";

const folder = join(root, "docs", "operating");
const runs = [
  ["check", "rules", "bursar-alerts.yaml"],
  ["test", "rules", "bursar-alerts.test.yaml"],
];
for (const args of runs) {
  const { error, status, stdout, stderr } = spawnSync("promtool", args, { cwd: folder, encoding: "utf8" });
  if (error !== undefined) {
    console.log("promtool is not installed: the alert rules were not checked.");
    process.exit(0);
  }
  if (status !== 0) {
    console.error(stdout + stderr);
    process.exit(1);
  }
}
