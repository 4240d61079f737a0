import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { exitCodes } from "../exit-codes.js";
import type { Io } from "./io.js";

/** The process's own streams and signals. */
export function processIo(): { io: Io; exit: (code: number) => void } {
  const { stdin, stdout, stderr } = process;
  const interrupt = new AbortController();
  // A second signal ends the process at once, because the default handler is back.
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.once(name, () => interrupt.abort(new Error("interrupted")));
  for (const stream of [stdout, stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
      if (stream === stdout) process.exit(exitCodes.closedPipe.code);
    });
  const io: Io = {
    out: (written) => void stdout.write(written),
    err: (written) => void stderr.write(written),
    isTerminal: { in: stdin.isTTY === true, out: stdout.isTTY === true, err: stderr.isTTY === true },
    width: () => stdout.columns ?? 80,
    env: process.env,
    ask: (prompt, options) => ask(prompt, options, interrupt.signal),
    readInput: () => text(stdin),
    signal: interrupt.signal,
    now: () => new Date(),
  };
  return {
    io,
    exit: (code) => {
      // A pipe is written asynchronously: the process ends by itself when all is written.
      process.exitCode = code;
      stdout.write("", () => stderr.write("", () => process.exit(code)));
    },
  };
}

async function ask(prompt: string, { hidden }: { hidden: boolean }, signal: AbortSignal): Promise<string> {
  writeSync(2, prompt);
  // Without an output, readline does not echo what is typed.
  const lines = createInterface({
    input: process.stdin,
    terminal: true,
    ...(hidden ? {} : { output: process.stderr }),
  });
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once("line", resolve);
      lines.once("close", () => resolve(""));
      // readline takes Ctrl-C for itself.
      lines.once("SIGINT", () => reject(new Error("interrupted")));
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  } finally {
    lines.close();
    if (hidden) writeSync(2, "\n");
  }
}
