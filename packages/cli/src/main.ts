import { operatorProgram, runsInServer } from "./server/operator-commands.js";

/** Runs a command, or returns the address of the server's program, which runs those of the operator. */
export async function start(args: readonly string[]): Promise<string | undefined> {
  const program = runsInServer(args) ? operatorProgram() : undefined;
  if (program !== undefined) return program;
  // A command of the operator has no use for the others, whose modules take as long to load as its own.
  const [{ runCli }, { processIo }] = await Promise.all([
    import("./run-cli.js"),
    import("./terminal/process-io.js"),
  ]);
  const { io, exit } = processIo();
  exit(await runCli(args, io));
  return undefined;
}
