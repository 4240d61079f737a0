import { Command, CommanderError } from "commander";
import { ConfigError } from "../config/config-error.js";
import { OperatorError } from "../operator-error.js";
import { softwareVersion } from "../version.js";
import { addAuditCommand } from "./audit.js";
import { addClientCommand } from "./client.js";
import { addConfigCommand } from "./config.js";
import { addDevCommand } from "./dev.js";
import { addFundCommand } from "./fund.js";
import { addKeysCommand } from "./keys.js";
import { addMigrateCommand } from "./migrate.js";
import { addServeCommand } from "./serve.js";
import { addTenantCommand } from "./tenant.js";
import { addTokenCommand } from "./token.js";
import { addWebhooksCommand } from "./webhooks.js";

/** The exit code for what the person at the keyboard wrote wrong: options, arguments, configuration. */
const usageExitCode = 2;

const commands = [
  addDevCommand,
  addServeCommand,
  addTokenCommand,
  addTenantCommand,
  addClientCommand,
  addFundCommand,
  addWebhooksCommand,
  addKeysCommand,
  addAuditCommand,
  addMigrateCommand,
  addConfigCommand,
];

/** Runs the command line and gives the exit code. */
export async function runCli(argv: readonly string[]): Promise<number> {
  const program = new Command("bursar").description("A self-hosted transaction service for digital assets.");
  for (const add of commands) add(program);
  for (const command of allCommands(program)) {
    command.version(softwareVersion).exitOverride().showHelpAfterError("(--help lists what there is)");
  }
  try {
    await program.parseAsync(argv, { from: "user" });
    return 0;
  } catch (error) {
    return explain(error);
  }
}

/** A command and all below it. */
function allCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(allCommands)];
}

/** One sentence for what a person can put right; a stack trace only for what nobody foresaw. */
function explain(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageExitCode;
  if (error instanceof ConfigError) {
    console.error(`bursar: ${error.message}`);
    return usageExitCode;
  }
  const refusal = refusalOfDatabase(error);
  if (refusal !== undefined) {
    console.error(`bursar: The database refuses the connection: ${refusal}.`);
    return 1;
  }
  console.error(error instanceof OperatorError ? `bursar: ${error.message}` : error);
  return 1;
}

/** A wrong password, an unknown role or an unknown database: for the person to put right, in PostgreSQL's own words. */
function refusalOfDatabase(error: unknown): string | undefined {
  const { code, message } = error as { code?: unknown; message?: string };
  return typeof code === "string" && /^(28[0-9A-Z]{3}|3D000)$/.test(code) ? message : undefined;
}
