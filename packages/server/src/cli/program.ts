import { Command, CommanderError } from "commander";
import { ConfigError } from "../config/load-config.js";
import { OperatorError } from "../operator-error.js";
import { softwareVersion } from "../version.js";
import { addConfigCommand } from "./config.js";
import { addDevCommand } from "./dev.js";
import { addMigrateCommand } from "./migrate.js";
import { addServeCommand } from "./serve.js";

/** The exit code for what the person at the keyboard wrote wrong: options, arguments, configuration. */
const usageExitCode = 2;

/** Runs the command line and gives the exit code. */
export async function runCli(argv: readonly string[]): Promise<number> {
  const program = new Command("bursar")
    .description("A self-hosted transaction service for digital assets.")
    .version(softwareVersion);
  for (const add of [addDevCommand, addServeCommand, addMigrateCommand, addConfigCommand]) add(program);
  for (const command of program.commands) command.version(softwareVersion);
  for (const command of [program, ...program.commands])
    command.exitOverride().showHelpAfterError("(--help lists what there is)");
  try {
    await program.parseAsync(argv, { from: "user" });
    return 0;
  } catch (error) {
    return explain(error);
  }
}

/** One sentence for what a person can put right; a stack trace only for what nobody foresaw. */
function explain(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageExitCode;
  if (error instanceof ConfigError) {
    console.error(`bursar: ${error.message}`);
    return usageExitCode;
  }
  console.error(error instanceof OperatorError ? `bursar: ${error.message}` : error);
  return 1;
}
