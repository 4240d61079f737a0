import { listenForInterruption } from "./cli/interruption.js";
import { main } from "./cli/main-command.js";

const interrupted = new AbortController();
listenForInterruption(interrupted);
// A fault of the kit ends the run, but not without its report and not without removing what it has registered.
let isBroken = false;
process.on("unhandledRejection", (reason) => {
  isBroken = true;
  process.stderr.write(`bursar-conformance: the kit is broken. ${String(reason)}\n`);
  interrupted.abort();
});
const status = await main(process.argv.slice(2), {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  input: process.stdin,
  environment: process.env,
  signal: interrupted.signal,
});
process.exitCode = isBroken ? 3 : status;
