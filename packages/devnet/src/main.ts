import { parseArgs } from "node:util";
import { readSettings, usage } from "./read-settings.js";
import { type RunningDevnet, startDevnet } from "./start-devnet.js";

/** `node packages/devnet/dist/main.js`: runs a development chain until it is stopped. */

const { values } = parse();
if (values.help === true) {
  process.stdout.write(usage);
  process.exit(0);
}
const settings = readSettings(values);
if (typeof settings === "string") fail(settings, 2);
const devnet = await start();
process.stdout.write(`${devnet.url}\n`);
process.once("SIGTERM", stop);
process.once("SIGINT", stop);
if (values["with-parent"] === true) process.stdin.once("end", stop).once("error", stop).resume();

function parse() {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  try {
    return parseArgs({
      options: {
        port: text,
        data: text,
        "chain-id": text,
        kind: text,
        "block-time-ms": text,
        manual: flag,
        "safe-depth": text,
        "final-depth": text,
        "with-parent": flag,
        help: flag,
      },
    });
  } catch (error) {
    fail((error as Error).message, 2);
  }
}

async function start(): Promise<RunningDevnet> {
  try {
    const running = await startDevnet(settings as Exclude<typeof settings, string>, crash);
    if (running.cutBytes > 0)
      process.stderr.write(
        `devnet: the journal ended with an incomplete line of ${running.cutBytes} bytes; it was removed\n`,
      );
    return running;
  } catch (error) {
    fail((error as Error).message, 1);
  }
}

function stop(): void {
  devnet.close().then(() => process.exit(0), crash);
}

/** The journal has everything that was answered, so ending at once loses nothing. */
function crash(error: unknown): void {
  process.stderr.write(`devnet: ${(error as Error).stack ?? String(error)}\n`);
  const { cause } = error as Error;
  if (cause !== undefined) process.stderr.write(`devnet: ${(cause as Error).stack ?? String(cause)}\n`);
  process.exit(1);
}

function fail(message: string, code: number): never {
  process.stderr.write(`devnet: ${message}\n`);
  process.exit(code);
}
