import { type Command, isWatching } from "./commands/command.js";
import { commands } from "./commands/table.js";
import { createContext, type Running } from "./context.js";
import { type CliError, exitCodeOfInterruption, exitCodes, usage } from "./exit-codes.js";
import { explainFailure } from "./explain-failure.js";
import { exitCodesPage, helpOf, overview } from "./help/help.js";
import { findCommand, nearest } from "./parse/find-command.js";
import { parseCommand } from "./parse/parse-command.js";
import { operatorCommands, operatorProgram, runsInServer } from "./server/operator-commands.js";
import type { Io } from "./terminal/io.js";
import { version } from "./version.js";

/** Runs one command and returns the exit code. */
export async function runCli(args: readonly string[], io: Io): Promise<number> {
  const [first] = args;
  if (first === "--version" || first === "-V" || first === "version") {
    io.out(`${version}\n`);
    return 0;
  }
  if (first === undefined || first === "help" || first === "--help" || first === "-h") {
    const text = helpFor(args.slice(1));
    if (text === undefined) return explainFailure(unknown(args.slice(1)), io);
    io.out(text);
    return first === undefined ? exitCodes.usage.code : 0;
  }
  const found = findCommand(commands, args);
  if (found === undefined) {
    const group = commands.filter(({ path }) => path.startsWith(`${first} `));
    if (group.length === 0 || (args[1] !== undefined && !args[1].startsWith("-")))
      return explainFailure(unknown(args), io);
    io.out(overview(group, []));
    return args[1] === undefined ? exitCodes.usage.code : 0;
  }
  return await runCommand(found.command, found.rest, io);
}

async function runCommand(command: Command, rest: readonly string[], io: Io): Promise<number> {
  let running: Running | undefined;
  try {
    const given = parseCommand(command, rest);
    if (given.flag("help")) {
      io.out(helpOf(command));
      return 0;
    }
    if (given.flag("json") && given.flag("jsonl")) throw usage("--json and --jsonl exclude each other.");
    running = createContext(command, given, io);
    const code = (await command.run(running.context, given)) ?? 0;
    // One that watches ends by itself only if it has shown what was asked for.
    return io.signal.aborted && isWatching(command, given) ? exitCodeOfInterruption(io.signal) : code;
  } catch (error) {
    running?.close();
    return explainFailure(error, io, command, running);
  } finally {
    running?.close();
  }
}

/** Undefined if there is no such command. */
function helpFor(words: readonly string[]): string | undefined {
  const found = findCommand(commands, words);
  if (found !== undefined) return helpOf(found.command);
  const group = commands.filter(({ path }) => path.startsWith(`${words[0]} `));
  if (group.length > 0) return overview(group, []);
  if (words[0] === "exit-codes") return exitCodesPage();
  const isOperator = operatorCommands.some(({ name }) => name === words[0]);
  if (words[0] !== undefined && !words[0].startsWith("-") && !isOperator) return undefined;
  return overview(commands, operatorProgram() === undefined ? [] : operatorCommands);
}

function unknown(args: readonly string[]): CliError {
  const typed = args.filter((word) => !word.startsWith("-")).slice(0, 2);
  const paths = commands.map(({ path }) => path);
  const meant = nearest(paths, typed.join(" ")) ?? nearest(paths, typed[0] ?? "");
  const isGroup = paths.some((path) => path.startsWith(`${typed[0]} `));
  const hint = runsInServer(typed)
    ? "It is a command of the operator: run it where the server is installed."
    : meant === undefined
      ? `\`bursar ${isGroup ? typed[0] : "help"}\` lists the commands.`
      : `Did you mean \`bursar ${meant}\`?`;
  return usage(`There is no command "${typed.join(" ") || args[0]}". ${hint}`);
}
