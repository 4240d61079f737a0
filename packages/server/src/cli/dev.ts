import type { Command } from "commander";
import { loadConfig } from "../config/load-config.js";
import { banner } from "./banner.js";
import { runUntilStopped } from "./run-until-stopped.js";

export function addDevCommand(program: Command): void {
  program
    .command("dev")
    .description("run the sandbox: a service with its own PostgreSQL, for trying things out")
    .action(async () => {
      const { values } = loadConfig(process.env);
      await runUntilStopped(values, (service) => console.log(banner(service)));
    });
}
