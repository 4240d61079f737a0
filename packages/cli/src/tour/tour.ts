import type { Command, Context } from "../commands/command.js";
import { CliError } from "../exit-codes.js";
import { readSandbox } from "../profiles/sandbox.js";
import type { TourClient } from "./tour-client.js";

/** What a step of the tour works with. */
export interface Tour {
  /** Sends requests as one of the sandbox's clients, and shows each of them. */
  as: (client: string) => TourClient;
  /** The same, but Ctrl-C does not end its requests: a step puts back what it has changed. */
  forCleanup: (client: string) => TourClient;
  say: (sentence: string) => void;
  context: Context;
}

export const tourCommand: Command = {
  path: "tour",
  summary:
    "show the whole story against the sandbox: pay, retry, approve, receive webhooks, trade; each request is printed",
  operations: [],
  changes: true,
  run: tour,
};

async function tour(context: Context): Promise<undefined> {
  const { output, io } = context;
  if ((await context.target()).name !== "sandbox")
    throw new CliError("The tour moves money, so it runs only against the sandbox.", "usage");
  const [{ createTourClient }, { tourSteps }] = await Promise.all([
    import("./tour-client.js"),
    import("./tour-steps.js"),
  ]);
  const { style } = output;
  const clients = new Map<string, TourClient>();
  const write = (line: string) => io.out(`${line}\n`);
  const startedAt = performance.now();
  const connect = (name: string, signal?: AbortSignal) =>
    createTourClient(readSandbox(name, io.env), (line) => write(style.dim(`    ${line}`)), signal);
  const as = (name: string) => {
    const client = clients.get(name) ?? connect(name, io.signal);
    clients.set(name, client);
    return client;
  };
  for (const [at, { title, run }] of tourSteps.entries()) {
    if (io.signal.aborted) throw new CliError("The tour was interrupted.", "interrupted");
    write(`\n${style.bold(`${at + 1}. ${title}`)}`);
    await run({ as, forCleanup: connect, say: (sentence) => write(`  ${sentence}`), context });
  }
  write(
    `\nThat was all, in ${((performance.now() - startedAt) / 1000).toFixed(1)} s. \`bursar help\` lists the commands.`,
  );
  return undefined;
}
