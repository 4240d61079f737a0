import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCli } from "../../src/run-cli.js";
import type { Io } from "../../src/terminal/io.js";

export interface RunOptions {
  /** Whether it runs on a terminal. */
  terminal?: boolean;
  width?: number;
  env?: Record<string, string>;
  /** What is typed at the prompts. */
  answers?: string[];
  input?: string;
  signal?: AbortSignal;
}

export interface Ran {
  code: number;
  out: string;
  err: string;
  prompts: { prompt: string; hidden: boolean }[];
}

/** Runs commands beside a sandbox at this address, with a home folder of its own. */
export function createRunner(url: string) {
  const folder = mkdtempSync(join(tmpdir(), "bursar-cli-"));
  const data = join(folder, "data");
  mkdirSync(data);
  const clients = ["sandbox", "approver"].map((name) => ({
    name,
    tenant_id: "tnt_1",
    client_id: `cli_${name}`,
    client_secret: "bsk_this-must-never-be-shown",
  }));
  writeFileSync(join(data, "credentials.json"), JSON.stringify({ url, clients }));
  const home = {
    BURSAR_DATA_DIR: data,
    XDG_CONFIG_HOME: join(folder, "config"),
    HOME: folder,
    TERM: "xterm",
  };
  /** Starts a command that runs until its signal is aborted; `ran` has what it has shown so far. */
  const start = (args: string[], options: RunOptions = {}): { ran: Ran; ended: Promise<Ran> } => {
    const { terminal = false, answers = [] } = options;
    const ran: Ran = { code: 0, out: "", err: "", prompts: [] };
    const io: Io = {
      out: (text) => {
        ran.out += text;
      },
      err: (text) => {
        ran.err += text;
      },
      isTerminal: { in: terminal, out: terminal, err: terminal },
      width: () => options.width ?? 100,
      env: { ...home, ...options.env },
      ask: async (prompt, { hidden }) => {
        ran.prompts.push({ prompt, hidden });
        return answers.shift() ?? "";
      },
      readInput: async () => options.input ?? "",
      signal: options.signal ?? new AbortController().signal,
      now: () => new Date(),
    };
    const ended = runCli(args, io).then((code) => {
      ran.code = code;
      return ran;
    });
    return { ran, ended };
  };
  const run = (args: string[], options: RunOptions = {}): Promise<Ran> => start(args, options).ended;
  return { run, start, folder, config: join(folder, "config", "bursar", "config.json") };
}
