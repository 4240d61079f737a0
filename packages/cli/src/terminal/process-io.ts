import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { exitCodes, Interruption } from "../exit-codes.js";
import type { Io } from "./io.js";

/** The process's own streams and signals. */
export function processIo(): { io: Io; exit: (code: number) => void } {
  const { stdin, stdout, stderr } = process;
  const interrupt = new AbortController();
  // A second signal ends the process at once, because the default handler is back.
  for (const [name, exit] of signals) process.once(name, () => interrupt.abort(new Interruption(exit)));
  let lost: NodeJS.ErrnoException | undefined;
  for (const stream of [stdout, stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      // The error stream has no reader if its pipe was closed; what is left to do does not depend on it.
      if (stream === stderr && error.code === "EPIPE") return;
      lost ??= error;
      // Nobody sees what a command would still show, but it may have to clean up.
      interrupt.abort(new Interruption(exitOfLoss(error)));
    });
  const io: Io = {
    out: (written) => void stdout.write(written),
    err: (written) => void stderr.write(written),
    isTerminal: { in: stdin.isTTY === true, out: stdout.isTTY === true, err: stderr.isTTY === true },
    width: () => stdout.columns || 80,
    env: process.env,
    ask: (prompt, options) => ask(prompt, options, interrupt),
    readInput: () => unlessAborted(text(stdin), interrupt.signal),
    signal: interrupt.signal,
    now: () => new Date(),
  };
  return {
    io,
    exit: (code) => {
      // A pipe is written asynchronously, and the error of a write is an event of its own, which comes after its callback.
      const end = () => process.exit(lost === undefined ? code : exitWithout(lost));
      stdout.write("", () => stderr.write("", () => setImmediate(end)));
    },
  };
}

const signals = [
  ["SIGINT", "interrupted"],
  ["SIGTERM", "terminated"],
  ["SIGHUP", "hungUp"],
] as const;

function exitOfLoss({ code }: NodeJS.ErrnoException): "closedPipe" | "output" {
  return code === "EPIPE" ? "closedPipe" : "output";
}

/** A script must not take for success what was not written. */
function exitWithout(error: NodeJS.ErrnoException): number {
  const exit = exitOfLoss(error);
  try {
    if (exit === "output") writeSync(2, `bursar: The output could not be written: ${error.message}.\n`);
  } catch {
    // The exit code says it.
  }
  return exitCodes[exit].code;
}

function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}

async function ask(
  prompt: string,
  { hidden }: { hidden: boolean },
  interrupt: AbortController,
): Promise<string> {
  writeSync(2, prompt);
  // Without an output, readline does not echo what is typed.
  const lines = createInterface({
    input: process.stdin,
    terminal: true,
    ...(hidden ? {} : { output: process.stderr }),
  });
  // readline takes Ctrl-C for itself.
  lines.once("SIGINT", () => interrupt.abort(new Interruption("interrupted")));
  const typed = new Promise<string>((resolve) => {
    lines.once("line", resolve);
    lines.once("close", () => resolve(""));
  });
  try {
    return await unlessAborted(typed, interrupt.signal);
  } finally {
    lines.close();
    if (hidden || interrupt.signal.aborted) writeSync(2, "\n");
  }
}
