import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createDevnetClient, type DevnetClient } from "./controls/devnet-client.js";
import { nodePaths } from "./start-devnet.js";

/** A chain in a process of its own, which ends with this one. */
export interface SpawnedDevnet extends DevnetClient {
  readonly secondUrl: string;
  readonly pid: number;
  /** Ends it in order; resolves with its exit code. */
  readonly stop: () => Promise<number | null>;
  /** Ends it at once, as a crash would. */
  readonly kill: () => Promise<void>;
}

/** `args` are options of the command line. The port is chosen by the system unless it is given. */
export async function spawnDevnet(args: readonly string[] = []): Promise<SpawnedDevnet> {
  const main = fileURLToPath(new URL("../dist/main.js", import.meta.url));
  const child = spawn(process.execPath, [main, "--with-parent", "--port", "0", ...args], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  const exited = once(child, "exit") as Promise<[number | null]>;
  const url = await readUrl(child, exited);
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    return (await exited)[0];
  };
  return {
    ...createDevnetClient(url),
    secondUrl: `${url}${nodePaths.second}`,
    pid: child.pid ?? 0,
    stop: () => end("SIGTERM"),
    kill: async () => void (await end("SIGKILL")),
  };
}

async function readUrl(child: ChildProcess, exited: Promise<[number | null]>): Promise<string> {
  if (child.stdout === null || child.stderr === null) throw new Error("the process has no output");
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => {
    errors = `${errors}${chunk}`.slice(-10_000);
  });
  const line = once(createInterface(child.stdout), "line") as Promise<[string]>;
  const first = await Promise.race([line, exited]);
  if (typeof first[0] === "string") return first[0];
  throw new Error(`the development chain ended with ${first[0]}: ${errors}`);
}
