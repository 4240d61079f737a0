import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const bin = fileURLToPath(new URL("../../bin/bursar.mjs", import.meta.url));

export interface BursarProcess {
  child: ChildProcess;
  /** Everything it has written so far, both streams together. */
  output: () => string;
  /** Waits until the pattern stands in the output, and gives the match. */
  waitFor: (pattern: RegExp) => Promise<RegExpExecArray>;
  /** Waits until it listens and is ready, and gives its address. */
  ready: () => Promise<string>;
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

export interface BursarProcessOptions {
  args: string[];
  env?: Record<string, string>;
  account?: { uid: number; gid: number };
}

const startTimeoutMs = 60_000;

/** The built command line as a process of its own, on a free port, with nothing from the tests' own environment. */
export function spawnBursar({ args, env = {}, account }: BursarProcessOptions): BursarProcess {
  const child = spawn(process.execPath, [bin, ...args], {
    env: { PATH: process.env["PATH"], PORT: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    ...account,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
  }
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once("close", (code, signal) => resolve({ code, signal }));
  });

  async function waitFor(pattern: RegExp): Promise<RegExpExecArray> {
    const deadline = Date.now() + startTimeoutMs;
    for (;;) {
      const match = pattern.exec(output);
      if (match !== null) return match;
      if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline) {
        throw new Error(`bursar ${args.join(" ")} did not write ${pattern}; it wrote:\n${output}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  return {
    child,
    output: () => output,
    waitFor,
    ready: async () => (await waitFor(/"url":"(http:[^"]+)","msg":"ready"/))[1] ?? "",
    exited,
  };
}
