import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { OperatorError } from "../../operator-error.js";
import { createRestarts } from "./restarts.js";

/** A process that runs beside the sandbox, kept running until it is stopped. */
export interface Companion {
  /** What it has printed when it was ready. */
  line: string;
  stop: () => Promise<void>;
}

/** Where to report what an operator should know. */
export interface CompanionLog {
  warn: (message: string) => void;
  error: (message: string) => void;
}

export interface CompanionOptions {
  /** For messages and for its files in the data folder, such as `signer.log`. */
  name: string;
  script: string;
  args: readonly string[];
  /** The arguments of a restart, which must find what the first start has chosen. */
  argsOfRestart?: (line: string) => readonly string[];
  dataDir: string;
  log: CompanionLog;
  /** Called when it has ended and could not be restarted. */
  onLost: (error: Error) => void;
}

interface RunningProcess {
  line: string;
  child: ChildProcess;
  ended: Promise<unknown>;
}

const stopTimeoutMs = 5000;
const pollMs = 50;

/**
 * It has a process group of its own, so that Ctrl-C reaches only the sandbox, which then stops in order. It ends when its standard input
 * does: also after `kill -9` of the sandbox.
 */
export async function startCompanion(options: CompanionOptions): Promise<Companion> {
  const { name, log, onLost } = options;
  await stopOrphan(options);
  let running = await run(options, options.args);
  const { line } = running;
  let stopping = false;

  const restarts = createRestarts(() => performance.now());
  restarts.started();

  /** Ends the wait before a restart. */
  const stopped = new AbortController();
  async function keepRunning(): Promise<void> {
    await running.ended;
    while (!stopping) {
      const delayMs = restarts.ended();
      if (delayMs === undefined)
        throw new OperatorError(
          `The ${name} has ended ${restarts.count()} times. See ${logFileOf(options)}.`,
        );
      log.error(`the ${name} has ended unexpectedly; restarting it in ${delayMs} ms`);
      await sleep(delayMs, undefined, { signal: stopped.signal }).catch(() => undefined);
      if (stopping) return;
      try {
        running = await run(options, options.argsOfRestart?.(line) ?? options.args);
      } catch (error) {
        // A start that fails is one more end: its disk may still be full.
        if (!(error instanceof OperatorError)) throw error;
        log.error(error.message);
        continue;
      }
      restarts.started();
      if (stopping) await end(running);
      else await running.ended;
    }
  }
  const kept = keepRunning().catch((error: unknown) => {
    if (!stopping) onLost(error instanceof Error ? error : new Error(String(error)));
  });

  return {
    line,
    stop: async () => {
      stopping = true;
      stopped.abort();
      await end(running);
      await kept;
      rmSync(pidFileOf(options), { force: true });
    },
  };
}

async function run(options: CompanionOptions, args: readonly string[]): Promise<RunningProcess> {
  const logFile = logFileOf(options);
  const errors = openSync(logFile, "w", 0o600);
  const child = spawn(process.execPath, [options.script, ...args, "--with-parent"], {
    detached: true,
    stdio: ["pipe", "pipe", errors],
  });
  closeSync(errors);
  // Its end is noticed below; what could not be written to it is lost with it.
  child.stdin?.on("error", () => undefined);
  if (child.pid !== undefined) writeFileSync(pidFileOf(options), `${child.pid}\n`, { mode: 0o600 });
  const ended = new Promise<undefined>((resolve) => {
    child.once("exit", () => resolve(undefined));
    child.once("error", () => resolve(undefined));
  });
  const printed = new Promise<string>((resolve) => {
    if (child.stdout !== null) createInterface(child.stdout).once("line", resolve);
  });
  const line = await Promise.race([printed, ended]);
  if (line === undefined)
    throw new OperatorError(`The ${options.name} of the sandbox did not start. ${lastLine(logFile)}`);
  return { line, child, ended };
}

async function end({ child, ended }: RunningProcess): Promise<void> {
  child.stdin?.destroy();
  const inTime = await Promise.race([ended.then(() => true), sleep(stopTimeoutMs, false, { ref: false })]);
  if (!inTime) child.kill("SIGKILL");
  await ended;
}

/** One that the last sandbox has left behind is ending; if it does not, it is killed. The data folder is locked, so it is nobody else's. */
async function stopOrphan(options: CompanionOptions): Promise<void> {
  const pid = Number(readIfPresent(pidFileOf(options)) ?? "0");
  if (!Number.isInteger(pid) || pid <= 1) return;
  for (let waitedMs = 0; waitedMs < stopTimeoutMs; waitedMs += pollMs) {
    if (!isCompanion(pid, options)) return;
    await sleep(pollMs);
  }
  process.kill(pid, "SIGKILL");
  while (isCompanion(pid, options)) await sleep(pollMs);
}

/** The process id can belong to another program by now. */
function isCompanion(pid: number, { script, dataDir }: CompanionOptions): boolean {
  const command = commandOf(pid);
  return command.includes(script) && command.includes(dataDir);
}

function commandOf(pid: number): string {
  if (process.platform === "linux") return readIfPresent(`/proc/${pid}/cmdline`) ?? "";
  try {
    return execFileSync("ps", ["-o", "command=", "-p", String(pid)], { encoding: "utf8" });
  } catch {
    return "";
  }
}

function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function pidFileOf({ name, dataDir }: CompanionOptions): string {
  return join(dataDir, `${name}.pid`);
}

function logFileOf({ name, dataDir }: CompanionOptions): string {
  return join(dataDir, `${name}.log`);
}

/** The processes say what is wrong in one line, after their name. */
function lastLine(logFile: string): string {
  const lines = (readIfPresent(logFile) ?? "").trim().split("\n");
  const said = lines.findLast((line) => /^[a-z-]+: /.test(line)) ?? lines.at(-1) ?? "";
  return said === "" ? "It wrote nothing." : said.replace(/^[a-z-]+: /, "");
}
