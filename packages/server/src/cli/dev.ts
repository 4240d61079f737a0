import { join } from "node:path";
import type { Command } from "commander";
import type { Parts } from "../compose/compose.js";
import { loadConfig } from "../config/load-config.js";
import { readMasterKey, readOrCreateMasterKey } from "../credentials/master-key.js";
import { banner } from "./banner.js";

/** Nobody who tries things out wants to wait a day for them. */
const sandboxDefaults = { "policy.destination_delay_seconds": 0 };

export function addDevCommand(program: Command): void {
  program
    .command("dev")
    .description("run the sandbox: a service with its own PostgreSQL, for trying things out")
    .action(async () => {
      const { values } = loadConfig(process.env, sandboxDefaults);
      const { runUntilStopped } = await import("./run-until-stopped.js");
      const { seedSandbox } = await import("./seed-sandbox.js");
      const masterKey = (dataDir: string) =>
        values.master_key_file === undefined
          ? readOrCreateMasterKey(join(dataDir, "master.key"))
          : readMasterKey(values.master_key_file);
      const seed = (url: string, parts: Parts) => seedSandbox(url, parts, values);
      await runUntilStopped(values, { isSandbox: true, masterKey, seed }, (service) =>
        console.log(banner(service)),
      );
    });
}
