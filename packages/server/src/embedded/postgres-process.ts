import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, readlinkSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { OperatorError } from "../operator-error.js";
import type { PostgresCluster } from "./postgres-cluster.js";

/** One run of PostgreSQL, from its start to its end. */
export interface PostgresProcess {
  /** Settles when it has ended, whatever the cause. */
  ended: Promise<void>;
  /** Ends it: open transactions are rolled back, everything committed is on disk. */
  stop: () => Promise<void>;
}

const startTimeoutMs = 60_000;
const stopTimeoutMs = 6000;
const pollMs = 25;

/**
 * PostgreSQL must not outlive the service, not even after `kill -9`, when nothing of ours can run any more. So it is
 * started by this little shell, which holds a pipe from the service: when the pipe closes, for whatever reason, it asks
 * PostgreSQL to stop. The shell is a group of its own, so that Ctrl-C reaches the service alone, which then stops in
 * order.
 */
const keeper = `
exec 3<&0
"$@" </dev/null 3<&- &
postgres=$!
{ read -r _ <&3; kill -INT "$postgres"; } &
watcher=$!
wait "$postgres"
status=$?
kill "$watcher"
exit "$status"
`;

export async function runPostgres(
  cluster: PostgresCluster,
  port: number,
  logFile: string,
): Promise<PostgresProcess> {
  await stopOrphan(cluster);
  const previousRun = readLockFile(cluster)?.run;
  // The one before says why PostgreSQL had to be started again.
  if (existsSync(logFile)) renameSync(logFile, `${logFile}.1`);
  const log = openSync(logFile, "w", 0o600);
  const settings = [
    `port=${port}`,
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "max_connections=200",
  ];
  const child = spawn(
    "/bin/sh",
    [
      "-c",
      keeper,
      "bursar-postgres",
      cluster.binaries.postgres,
      "-D",
      cluster.dir,
      ...settings.flatMap((s) => ["-c", s]),
    ],
    { cwd: cluster.dir, detached: true, stdio: ["pipe", log, log], ...cluster.account },
  );
  closeSync(log);
  const ended = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  await waitUntilReady(cluster, child, logFile, previousRun);
  return { ended, stop: () => stop(cluster, child, ended) };
}

/** PostgreSQL writes its state into the last line of its lock file; one that was killed has left its own behind. */
async function waitUntilReady(
  cluster: PostgresCluster,
  child: ChildProcess,
  logFile: string,
  previousRun: string | undefined,
): Promise<void> {
  for (let waitedMs = 0; waitedMs < startTimeoutMs; waitedMs += pollMs) {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) {
      throw new OperatorError(`The embedded PostgreSQL did not start: ${lastLine(logFile)}`);
    }
    const lock = readLockFile(cluster);
    if (lock?.ready === true && lock.run !== previousRun) return;
    await sleep(pollMs);
  }
  child.stdin?.destroy();
  throw new OperatorError(
    `The embedded PostgreSQL was not ready in ${startTimeoutMs / 1000} s; see ${logFile}.`,
  );
}

async function stop(cluster: PostgresCluster, child: ChildProcess, ended: Promise<void>): Promise<void> {
  child.stdin?.destroy();
  const inTime = await Promise.race([ended.then(() => true), sleep(stopTimeoutMs, false, { ref: false })]);
  if (inTime) return;
  const lock = readLockFile(cluster);
  if (lock !== undefined) signal(lock.pid, "SIGQUIT");
  await ended;
}

/** A PostgreSQL that is still there when a service starts has lost its keeper; with the instance lock held it can go. */
async function stopOrphan(cluster: PostgresCluster): Promise<void> {
  const lock = readLockFile(cluster);
  if (lock === undefined) return;
  const isThere = () => whoHas(lock.pid, cluster) === "ours";
  // PostgreSQL would take any process of this account with that number for its own last run, and refuse to start.
  if (whoHas(lock.pid, cluster) === "another") rmSync(join(cluster.dir, "postmaster.pid"));
  for (const name of ["SIGINT", "SIGQUIT"] as const) {
    if (isThere()) signal(lock.pid, name);
    for (let waitedMs = 0; waitedMs < stopTimeoutMs && isThere(); waitedMs += pollMs) await sleep(pollMs);
  }
}

interface LockFile {
  pid: number;
  /** Process id and time of start, which tell one run from the next. */
  run: string;
  ready: boolean;
}

function readLockFile(cluster: PostgresCluster): LockFile | undefined {
  try {
    const lines = readFileSync(join(cluster.dir, "postmaster.pid"), "utf8").split("\n");
    const pid = Number(lines[0]);
    if (!Number.isInteger(pid) || pid <= 1) return undefined;
    return { pid, run: `${pid} ${lines[2]}`, ready: lines[7]?.trim() === "ready" };
  } catch {
    return undefined;
  }
}

/** Whether a process is the PostgreSQL of this cluster: its number alone can be anybody's by now. */
function whoHas(pid: number, cluster: PostgresCluster): "nobody" | "ours" | "another" | "unknown" {
  if (!signal(pid, 0)) return "nobody";
  try {
    // PostgreSQL works inside its data folder.
    const isOurs =
      process.platform === "linux"
        ? readlinkSync(`/proc/${pid}/cwd`) === cluster.dir
        : execFileSync("ps", ["-o", "command=", "-p", String(pid)], { encoding: "utf8" }).includes(
            `-D ${cluster.dir}`,
          );
    return isOurs ? "ours" : "another";
  } catch {
    return "unknown";
  }
}

function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

function lastLine(logFile: string): string {
  const lines = readFileSync(logFile, "utf8").trim().split("\n");
  return (
    lines.findLast((line) => /FATAL|PANIC|ERROR|could not/.test(line)) ?? lines.at(-1) ?? "it wrote nothing"
  );
}
