// Runs the built service like `bursar serve`, except that webhook receivers may run on this machine, and reports what it uses. The first
// message to the parent has its address; each later message answers one of the parent.
import { readdirSync } from "node:fs";
import { runUntilStopped } from "../../../dist/cli/service/run-until-stopped.js";
import { loadConfig } from "../../../dist/config/load-config.js";
import { readMasterKeys } from "../../../dist/credentials/master-key.js";

/** @param {boolean} collects Whether garbage is collected first. */
function measure(collects) {
  const { user, system } = process.cpuUsage();
  // Twice, because the first collection can leave what is released by finalizers.
  if (collects) for (let count = 0; count < 2; count++) global.gc?.();
  const { heapUsed, rss, external } = process.memoryUsage();
  return {
    heapBytes: heapUsed,
    externalBytes: external,
    rssBytes: rss,
    cpuMs: (user + system) / 1000,
    descriptors: process.platform === "linux" ? readdirSync("/proc/self/fd").length : 0,
    handles: process.getActiveResourcesInfo().length,
  };
}

const { values } = loadConfig(process.env);
const keyFile = values.master_key_file;
if (keyFile === undefined) throw new Error("there is no master key");
process.on("message", (message) => process.send?.(measure(message === "collect")));
// The proof that has started it has ended.
process.once("disconnect", () => process.exit(1));
await runUntilStopped(values, { isSandbox: true, keyring: () => readMasterKeys(keyFile) }, ({ url }) =>
  process.send?.({ url }),
);
process.exit(0);
