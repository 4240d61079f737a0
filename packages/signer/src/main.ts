import { readArguments, usage } from "./cli/arguments.js";
import { adopt, check, compact, describeCompacted, init, reseal, serve, words } from "./cli/commands.js";
import { OperatorError } from "./operator-error.js";

/** `bursar-signer`, or `node packages/signer/dist/main.js`. */

try {
  await run();
} catch (error) {
  fail(error);
}

async function run(): Promise<void> {
  const { command, values } = readArguments(process.argv.slice(2));
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  if (values.help === true) return void process.stdout.write(usage);
  if (command === "init") return init(values, print);
  if (command === "words") return words(values, print, process.stdout.isTTY);
  if (command === "check") return check(values, print);
  if (command === "adopt") return adopt(values, print);
  if (command === "reseal") return reseal(values, print);
  if (command === "compact") return compact(values, print);
  const signer = await serve(values, fail);
  if (signer.tornBytes > 0)
    process.stderr.write(
      `bursar-signer: the journal ended with an incomplete line of ${signer.tornBytes} bytes; it was removed\n`,
    );
  if (signer.compacted !== undefined)
    process.stderr.write(`bursar-signer: ${describeCompacted(signer.compacted)}\n`);
  const stop = () => void signer.close().then(() => process.exit(0), fail);
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
  if (values["with-parent"] === true) process.stdin.once("end", stop).once("error", stop).resume();
  print(`bursar-signer: ready, listening on ${signer.socketPath}`);
}

/** Ending at once loses nothing: the journal has everything that was answered. */
function fail(error: unknown): never {
  const isOperators = error instanceof OperatorError;
  const message = isOperators ? error.message : ((error as Error).stack ?? String(error));
  process.stderr.write(`bursar-signer: ${message}\n`);
  process.exit(isOperators ? 2 : 1);
}
