import { runCli } from "./run-cli.js";
import { operatorProgram, runsInServer } from "./server/operator-commands.js";
import { processIo } from "./terminal/process-io.js";

/** Runs a command, or returns the address of the server's program, which runs those of the operator. */
export async function start(args: readonly string[]): Promise<string | undefined> {
  const program = runsInServer(args) ? operatorProgram() : undefined;
  if (program !== undefined) return program;
  const { io, exit } = processIo();
  exit(await runCli(args, io));
  return undefined;
}
