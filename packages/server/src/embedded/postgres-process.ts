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
 * PostgreSQL must not outlive the service, even after `kill -9`. So it is started by this small shell script, which reads a pipe from
 * the service: when the pipe closes, for whatever reason, the script stops PostgreSQL. The script has its own process group, so that
 * Ctrl-C reaches only the service, which then shuts down in order.
 */
const supervisor = `
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
  // The previous log shows why PostgreSQL had to be restarted.
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
      supervisor,
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

/** PostgreSQL writes its state into its lock file; one that was killed has left its file behind. */
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
    `The embedded PostgreSQL was not ready after ${startTimeoutMs / 1000} s. See ${logFile}.`,
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

/** Stops a PostgreSQL that has outlived its supervisor. The instance lock is held, so no other service uses it. */
async function stopOrphan(cluster: PostgresCluster): Promise<void> {
  const lock = readLockFile(cluster);
  if (lock === undefined) return;
  const isRunning = () => identify(lock.pid, cluster) === "ours";
  // PostgreSQL takes any process of this account with that id for its previous run, and would refuse to start.
  if (identify(lock.pid, cluster) === "another") rmSync(join(cluster.dir, "postmaster.pid"));
  for (const name of ["SIGINT", "SIGQUIT"] as const) {
    if (isRunning()) signal(lock.pid, name);
    for (let waitedMs = 0; waitedMs < stopTimeoutMs && isRunning(); waitedMs += pollMs) await sleep(pollMs);
  }
}

interface LockFile {
  pid: number;
  /** Process id and start time, which identify a run. */
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

/** Whether a process is the PostgreSQL of this cluster: its id can belong to another program by now. */
function identify(pid: number, cluster: PostgresCluster): "nobody" | "ours" | "another" | "unknown" {
  if (!signal(pid, 0)) return "nobody";
  try {
    // The working directory of PostgreSQL is its data folder.
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
    lines.findLast((line) => /FATAL|PANIC|ERROR|could not/.test(line)) ?? lines.at(-1) ?? "its log is empty"
  );
}
