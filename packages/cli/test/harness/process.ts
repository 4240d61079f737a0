import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../../bin/bursar.mjs", import.meta.url));

/** Whether this machine can give a program a pseudo-terminal. */
export const hasTerminal = spawnSync("script", ["--version"]).status === 0;

export interface RunningProcess {
  child: ChildProcess;
  out: () => string;
  err: () => string;
  type: (keys: string) => void;
  /** Waits until the output, of both streams, matches. */
  shows: (pattern: RegExp) => Promise<void>;
  exited: Promise<number>;
}

/** Starts the program as it is built, beside a sandbox at this address. */
export function createStarter(url: string) {
  const folder = mkdtempSync(join(tmpdir(), "bursar-process-"));
  const data = join(folder, "data");
  mkdirSync(data);
  const clients = [{ name: "sandbox", client_id: "cli_1", client_secret: "bsk_this-must-never-be-shown" }];
  writeFileSync(join(data, "credentials.json"), JSON.stringify({ url, clients }));
  const env = {
    PATH: process.env["PATH"],
    HOME: folder,
    BURSAR_DATA_DIR: data,
    TERM: "xterm",
    NO_COLOR: "1",
  };
  const command = (args: readonly string[]) => [process.execPath, program, ...args].map(quote).join(" ");
  return {
    folder,
    start: (args: string[]) => follow(spawn(process.execPath, [program, ...args], { env, cwd: folder })),
    /** Runs a command of the shell, in which `$bursar` is the program. */
    shell: (line: string) =>
      follow(
        spawn("bash", ["-c", line], {
          env: { ...env, bursar: `${process.execPath} ${program}` },
          cwd: folder,
        }),
      ),
    /** On a pseudo-terminal of 80 columns. */
    terminal: (args: string[]) =>
      follow(
        spawn("script", ["-qec", `stty cols 80 rows 24; exec ${command(args)}`, "/dev/null"], {
          env,
          cwd: folder,
        }),
      ),
  };
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

function follow(child: ChildProcess): RunningProcess {
  let [out, err] = ["", ""];
  let look = () => {};
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    out += chunk;
    look();
  });
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    err += chunk;
    look();
  });
  const exited = new Promise<number>((resolve) => {
    child.once("close", (code, signal) => resolve(signal === null ? (code ?? -1) : -2));
  });
  return {
    child,
    out: () => out,
    err: () => err,
    type: (keys) => child.stdin?.write(keys),
    shows: (pattern) =>
      new Promise((resolve, reject) => {
        look = () => {
          if (pattern.test(out + err)) resolve();
        };
        look();
        void exited.then((code) => reject(new Error(`It ended with ${code} and showed ${out}${err}`)));
      }),
    exited,
  };
}
