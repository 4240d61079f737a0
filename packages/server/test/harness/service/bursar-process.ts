import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { eventually } from "../eventually.js";

const server = fileURLToPath(new URL("../../../bin/bursar.mjs", import.meta.url));
const cli = fileURLToPath(new URL("../../../../cli/bin/bursar.mjs", import.meta.url));
/** Commands of the API, which the server does not have. */
const commandsOfCli = ["token", "webhooks"];

export interface BursarProcess {
  child: ChildProcess;
  /** Everything it has written so far, both streams together, besides the progress that a start on a busy machine prints. */
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

const startTimeoutMs = 180_000;

/** What production requires besides a database and a master key. */
const forServe = { BURSAR_PUBLIC_URL: "http://bursar.example", BURSAR_ALLOW_HTTP_PUBLIC_URL: "true" };

/** The built command line as a process of its own, on a free port, with nothing from the tests' own environment. */
export function spawnBursar({ args, env = {}, account }: BursarProcessOptions): BursarProcess {
  const bin = commandsOfCli.includes(args[0] ?? "") ? cli : server;
  const child = spawn(process.execPath, [bin, ...args], {
    env: {
      PATH: process.env["PATH"],
      // Profiles of the person who runs the tests are not used.
      XDG_CONFIG_HOME: "/nonexistent",
      PORT: "0",
      BURSAR_DRAIN_DELAY_MS: "0",
      // Two more processes, which most tests have no use for.
      BURSAR_SANDBOX_CHAIN: "off",
      ...(args[0] === "serve" ? forServe : {}),
      ...env,
    },
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
    output: () => output.replaceAll(/^bursar: starting the sandbox, \d+ s\n/gm, ""),
    waitFor,
    ready: async () => (await waitFor(/"url":"(http:[^"]+)","msg":"ready"/))[1] ?? "",
    exited,
  };
}

/** The sandbox as a process of its own, ready to serve at the port that `env` names. */
export async function startSandbox(env: Record<string, string>): Promise<BursarProcess> {
  const service = spawnBursar({ args: ["dev"], env });
  const isReady = () =>
    fetch(`http://127.0.0.1:${env["PORT"]}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    );
  await eventually(isReady, Boolean, startTimeoutMs);
  return service;
}

export async function runBursar(
  args: string[],
  env: Record<string, string>,
): Promise<{ code: number | null; output: string }> {
  const command = spawnBursar({ args, env });
  const { code } = await command.exited;
  return { code, output: command.output() };
}

/** Asks until there is one, also while the sandbox is starting again. */
export async function getToken(env: Record<string, string>): Promise<string> {
  for (;;) {
    const { code, output } = await runBursar(["token"], env);
    if (code === 0) return output.trim();
    await sleep(100);
  }
}
