import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A signer in a process of its own, which ends with this one. */
export interface SpawnedSigner {
  readonly socketPath: string;
  readonly folder: string;
  readonly keyFile: string;
  readonly pid: number;
  /** What it wrote to standard error. */
  readonly errors: () => string;
  /** Ends it in order; resolves with its exit code. */
  readonly stop: () => Promise<number | null>;
  /** Ends it at once, as a crash would. */
  readonly kill: () => Promise<void>;
  readonly exited: Promise<number | null>;
}

export const signerProgram = fileURLToPath(new URL("../dist/main.js", import.meta.url));

/** Without a folder, one is created for this signer. The path of the socket is short, because the system limits it to 107 bytes. */
export async function spawnSigner(
  options: {
    readonly folder?: string;
    readonly keyFile?: string;
    readonly socketPath?: string;
    readonly args?: readonly string[];
  } = {},
): Promise<SpawnedSigner> {
  const parent = mkdtempSync(join(tmpdir(), "signer-"));
  const {
    folder = join(parent, "data"),
    keyFile = join(parent, "key"),
    socketPath = join(parent, "socket"),
  } = options;
  const place = ["--data", folder, "--key-file", keyFile, "--socket", socketPath];
  const args = [signerProgram, "serve", ...place, "--create", "--with-parent", ...(options.args ?? [])];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "pipe"] });
  const exited = once(child, "close").then(([code]: (number | null)[]) => code ?? null);
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => {
    errors = `${errors}${chunk}`.slice(-10_000);
  });
  await waitUntilReady(child, exited, () => errors);
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return exited;
  };
  return {
    socketPath,
    folder,
    keyFile,
    pid: child.pid ?? 0,
    errors: () => errors,
    stop: () => end("SIGTERM"),
    kill: async () => void (await end("SIGKILL")),
    exited,
  };
}

async function waitUntilReady(
  child: ChildProcess,
  exited: Promise<number | null>,
  errors: () => string,
): Promise<void> {
  if (child.stdout === null) throw new Error("the process has no output");
  const line = once(createInterface(child.stdout), "line").then(() => "ready" as const);
  const first = await Promise.race([line, exited]);
  if (first !== "ready") throw new Error(`the signer ended with ${first}: ${errors()}`);
}
