import type { Command } from "commander";
import { describeConfig } from "../../config/describe-config.js";
import { loadConfig } from "../../config/load-config.js";
import { print } from "../print.js";

export function addConfigCommand(program: Command): void {
  program
    .command("config")
    .description("print the effective configuration, with secrets masked, and the source of each value")
    .action(() => {
      print(describeConfig(loadConfig(process.env)));
    });
}
