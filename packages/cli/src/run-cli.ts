import { isBursarError } from "@bursar/client";
import type { Command } from "./commands/command.js";
import { commands } from "./commands/table.js";
import { createContext } from "./context.js";
import { CliError, exitCodeOf, exitCodes, usage } from "./exit-codes.js";
import { helpOf, overview } from "./help/help.js";
import { findCommand, nearest } from "./parse/find-command.js";
import { parseCommand } from "./parse/parse-command.js";
import { operatorCommands, operatorProgram } from "./server/operator-commands.js";
import type { Io } from "./terminal/io.js";
import { safe } from "./terminal/safe-text.js";
import { styleOf } from "./terminal/style.js";
import { version } from "./version.js";

/** Runs one command and returns the exit code. */
export async function runCli(args: readonly string[], io: Io): Promise<number> {
  const [first] = args;
  if (first === "--version" || first === "-V" || first === "version") {
    io.out(`${version}\n`);
    return 0;
  }
  if (first === undefined || first === "help" || first === "--help" || first === "-h") {
    io.out(helpFor(args.slice(1)));
    return first === undefined ? exitCodes.usage.code : 0;
  }
  const found = findCommand(commands, args);
  if (found === undefined) {
    const group = commands.filter(({ path }) => path.startsWith(`${first} `));
    if (group.length === 0 || (args[1] !== undefined && !args[1].startsWith("-")))
      return explain(unknown(args), io, false);
    io.out(overview(group, []));
    return args[1] === undefined ? exitCodes.usage.code : 0;
  }
  return await runCommand(found.command, found.rest, io);
}

async function runCommand(command: Command, rest: readonly string[], io: Io): Promise<number> {
  let end = () => {};
  try {
    const given = parseCommand(command, rest);
    if (given.flag("help")) {
      io.out(helpOf(command));
      return 0;
    }
    if (given.flag("json") && given.flag("jsonl")) throw usage("--json and --jsonl exclude each other.");
    const { context, close } = createContext(command, given, io);
    end = close;
    return (await command.run(context, given)) ?? 0;
  } catch (error) {
    end();
    if (io.signal.aborted) return exitCodes.interrupted.code;
    return explain(error, io, command.changes === true || command.movesMoney === true);
  } finally {
    end();
  }
}

function helpFor(words: readonly string[]): string {
  const found = findCommand(commands, words);
  if (found !== undefined) return helpOf(found.command);
  const group = commands.filter(({ path }) => path.startsWith(`${words[0]} `));
  if (group.length > 0) return overview(group, []);
  return overview(commands, operatorProgram() === undefined ? [] : operatorCommands);
}

function unknown(args: readonly string[]): CliError {
  const typed = args.filter((word) => !word.startsWith("-")).slice(0, 2);
  const paths = commands.map(({ path }) => path);
  const meant = nearest(paths, typed.join(" ")) ?? nearest(paths, typed[0] ?? "");
  const isOperator = operatorCommands.some(({ name }) => name === typed[0]);
  const hint = isOperator
    ? "It is a command of the operator: run it where the server is installed."
    : meant === undefined
      ? "`bursar help` lists the commands."
      : `Did you mean \`bursar ${meant}\`?`;
  return usage(`There is no command ${JSON.stringify(typed.join(" ") || args[0])}. ${hint}`);
}

/** One line: what has failed, with the code and the id of the request. */
function explain(error: unknown, io: Io, isChange: boolean): number {
  const style = styleOf(io, "err");
  const code = exitCodeOf(error, isChange);
  const line = describe(error, code);
  io.err(`${style.bad("bursar:")} ${safe(line)}\n`);
  if (!isBursarError(error) && !(error instanceof CliError)) io.err(`${(error as Error).stack ?? ""}\n`);
  return code;
}

function describe(error: unknown, exitCode: number): string {
  if (!isBursarError(error)) return error instanceof Error ? error.message : String(error);
  const { code, message, requestId, details, idempotencyKey } = error;
  const faults = details.map(({ path, reason }) => ` ${path} ${reason}.`.replace(/\.\.$/, ".")).join("");
  const request = requestId === undefined ? "" : ` (${requestId})`;
  const repeat =
    exitCode === exitCodes.unknown.code && idempotencyKey !== undefined
      ? ` It may have taken effect: repeat the command with --idempotency-key ${idempotencyKey}.`
      : "";
  return `${code}: ${message}${faults}${repeat}${request}`;
}
