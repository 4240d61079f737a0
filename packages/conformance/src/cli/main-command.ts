import { safeLine } from "../report/safe-text.js";
import { UsageFault } from "../target/read-values.js";
import { kitVersion } from "../version.js";
import { compareCommand } from "./compare-command.js";
import { initCommand } from "./init-command.js";
import { helpText, parseArguments } from "./parse-arguments.js";
import { type Console, runCommand } from "./run-command.js";

/** The command line; returns the exit status. */
export async function main(args: readonly string[], console: Console): Promise<number> {
  try {
    return await dispatch(args, console);
  } catch (error) {
    if (error instanceof UsageFault) {
      console.err(`bursar-conformance: ${safeLine(error.message)}\n`);
      return 2;
    }
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    console.err(`bursar-conformance: the kit is broken. ${reason}\n`);
    return 3;
  }
}

async function dispatch(args: readonly string[], console: Console): Promise<number> {
  const parsed = parseArguments(args);
  if (parsed.values.help === true) {
    console.out(helpText);
    return 0;
  }
  if (parsed.values.version === true) {
    console.out(`${kitVersion}\n`);
    return 0;
  }
  if (parsed.command === "compare") return compareCommand(parsed.files, console);
  if (parsed.command === "init") return initCommand(parsed.files, console);
  return runCommand(parsed, console);
}
