import { inspect } from "node:util";
import { Command, CommanderError } from "commander";
import { ConfigError } from "../config/setting.js";
import { explainFileError, InputError, OperatorError, UnknownOutcome } from "../operator-error.js";
import { DatabaseUnavailableError, OutcomeUnknownError } from "../store/core/database-unavailable-error.js";
import { softwareVersion } from "../version.js";
import { printError } from "./print.js";

/** The exit code for wrong usage: options, arguments, configuration. */
const usageExitCode = 2;
/** The exit code of a command that may have taken effect. */
const unknownExitCode = 3;
/** The exit code if the output could not be written, as on a full disk. */
const lostOutputExitCode = 7;
/** As of a program that is ended by SIGPIPE, which Node ignores. */
const closedPipeExitCode = 141;

/** Commands that change nothing. Without a reader of their output they have nothing left to do. */
const readingCommands: ReadonlySet<string> = new Set([
  "audit checkpoint",
  "audit keys",
  "audit ledger",
  "audit verify",
  "client list",
  "config",
  "database check",
  "database roles",
  "failures list",
  "keys list",
  "people list",
  "policy show",
  "tenant list",
]);

/**
 * A command is loaded when it is used, and `dev` and `serve` load the service when they start it: loading everything takes 0.9 s,
 * `bursar config` alone 0.2 s.
 */
const commands: Readonly<Record<string, () => Promise<(program: Command) => void>>> = {
  dev: async () => (await import("./service/dev.js")).addDevCommand,
  serve: async () => (await import("./service/serve.js")).addServeCommand,
  tenant: async () => (await import("./operator/tenant.js")).addTenantCommand,
  client: async () => (await import("./operator/client.js")).addClientCommand,
  people: async () => (await import("./operator/people.js")).addPeopleCommand,
  policy: async () => (await import("./operator/policy.js")).addPolicyCommand,
  fund: async () => (await import("./operator/fund.js")).addFundCommand,
  keys: async () => (await import("./operator/keys.js")).addKeysCommand,
  failures: async () => (await import("./operator/failures.js")).addFailuresCommand,
  network: async () => (await import("./operator/network.js")).addNetworkCommand,
  market: async () => (await import("./operator/market.js")).addMarketCommand,
  wallet: async () => (await import("./operator/wallet.js")).addWalletCommand,
  totals: async () => (await import("./operator/totals.js")).addTotalsCommand,
  audit: async () => (await import("./operator/audit.js")).addAuditCommand,
  database: async () => (await import("./operator/database.js")).addDatabaseCommand,
  recover: async () => (await import("./operator/recover.js")).addRecoverCommand,
  migrate: async () => (await import("./service/migrate.js")).addMigrateCommand,
  config: async () => (await import("./service/config.js")).addConfigCommand,
};

/** Runs the command line and returns the exit code. */
export async function runCli(argv: readonly string[]): Promise<number> {
  let running: Command | undefined;
  const findLost = followOutput(() => running !== undefined && readingCommands.has(pathOf(running)));
  const program = new Command("bursar").description("A self-hosted transaction service for digital assets.");
  for (const load of commandsFor(argv)) (await load())(program);
  program.hook("preAction", (_, command) => {
    running = command;
  });
  for (const command of allCommands(program)) {
    command.version(softwareVersion).exitOverride().showHelpAfterError("(--help shows the usage)");
  }
  try {
    await program.parseAsync(argv, { from: "user" });
    const lost = await findLost();
    if (lost === undefined) return 0;
    printError(`bursar: The output could not be written: ${lost.message}.`);
    return lostOutputExitCode;
  } catch (error) {
    return explain(error);
  }
}

/**
 * If the reader of the output ends, as `head` does, a command that only reads ends too. Another one finishes what it does, because it may be
 * in the middle of a change. Returns a function that waits for what was written, and returns why it could not be: a script must not take
 * for success what it cannot read.
 */
function followOutput(isReading: () => boolean): () => Promise<Error | undefined> {
  let lost: Error | undefined;
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") lost ??= error;
      else if (stream === process.stdout && isReading()) process.exit(closedPipeExitCode);
    });
  return async () => {
    // The error of a write is an event of its own, which comes after its callback.
    await new Promise((resolve) => process.stdout.write("", () => setImmediate(resolve)));
    return lost;
  };
}

/** The name of a command with those of its parents, without the program's. */
function pathOf(command: Command): string {
  const { parent } = command;
  return parent === null || parent.parent === null ? command.name() : `${pathOf(parent)} ${command.name()}`;
}

/** The named command; all of them for help or an unknown name. */
function commandsFor([name = ""]: readonly string[]) {
  const asked = Object.hasOwn(commands, name) ? commands[name] : undefined;
  return asked === undefined ? Object.values(commands) : [asked];
}

/** A command and all of its subcommands. */
function allCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(allCommands)];
}

const outcomeUnknown =
  "The outcome is unknown: the connection to the database was lost during the commit. Check whether the command took effect before you repeat it.";

/** Prints one sentence for an error that the operator can fix, and a stack trace for any other. */
function explain(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageExitCode;
  if (error instanceof ConfigError) {
    printError(`bursar: ${error.message}`);
    return usageExitCode;
  }
  if (error instanceof UnknownOutcome || error instanceof OutcomeUnknownError) {
    printError(`bursar: ${error instanceof UnknownOutcome ? error.message : outcomeUnknown}`);
    return unknownExitCode;
  }
  const refusal = refusalOfDatabase(error);
  if (refusal !== undefined) {
    printError(`bursar: The database refused the connection: ${refusal}.`);
    return 1;
  }
  if (error instanceof DatabaseUnavailableError && !(error.cause instanceof OperatorError)) {
    const answer = stateOf(error.cause) === undefined ? undefined : (error.cause as Error).message;
    printError(
      answer === undefined
        ? "bursar: The database does not answer. Check that it is running and that `database_url` is correct."
        : `bursar: The database is unavailable: ${answer}.`,
    );
    return 1;
  }
  if (isPrivilegeMissing(error)) {
    printError(`bursar: The role in \`database_url\` lacks a privilege: ${(error as Error).message}.`);
    return 1;
  }
  const known = [error, (error as Error).cause].find((one) => one instanceof OperatorError);
  const file = explainFileError(error);
  if (known !== undefined) printError(`bursar: ${known.message}`);
  else if (file !== undefined) printError(`bursar: ${file.path} cannot be used: ${file.reason}.`);
  else printError(inspect(error));
  return known instanceof InputError ? usageExitCode : 1;
}

/** The message of PostgreSQL for a wrong password, an unknown role or an unknown database. */
function refusalOfDatabase(error: unknown): string | undefined {
  return /^(28[0-9A-Z]{3}|3D000)$/.test(stateOf(error) ?? "") ? (error as Error).message : undefined;
}

/** Whether PostgreSQL denied permission, for this error or for its cause. */
function isPrivilegeMissing(error: unknown): boolean {
  return [error, (error as Error).cause].some((one) => stateOf(one) === "42501");
}

/** The SQLSTATE of an error; undefined for other errors, such as ECONNREFUSED. */
function stateOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}
