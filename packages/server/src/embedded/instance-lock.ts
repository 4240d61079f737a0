import { execFileSync } from "node:child_process";
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OperatorError } from "../operator-error.js";

/** Held while a service uses a data folder; a lock whose process has ended is taken over. */
export interface InstanceLock {
  release: () => void;
}

const attemptsMax = 5;

/**
 * Two services on one data folder would fight over its PostgreSQL. The lock is a file with a process id and the start time of that
 * process. After `kill -9` the file stays, but no process matches it, even if another program has the same process id by then.
 */
export function acquireInstanceLock(dataDir: string, pid = process.pid): InstanceLock {
  const path = join(dataDir, "instance.lock");
  const own = `${pid} ${processStart(pid)}\n`;
  const draft = `${path}.${pid}`;
  writeFileSync(draft, own, { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      if (linkIfAbsent(draft, path)) return { release: () => releaseIfOwn(path, own) };
      const holder = readIfPresent(path);
      if (holder !== undefined && isRunning(holder)) throw inUse(dataDir, holder);
      if (holder !== undefined) removeStale(path, holder, pid);
    }
    throw new OperatorError(
      `Another Bursar is starting on the data folder ${dataDir} at this moment. Try again.`,
    );
  } finally {
    rmSync(draft, { force: true });
  }
}

function inUse(dataDir: string, holder: string): OperatorError {
  const pid = holder.split(" ")[0];
  return new OperatorError(
    `The data folder ${dataDir} is in use by another Bursar (process ${pid}). Stop it, or choose another folder with BURSAR_DATA_DIR.`,
  );
}

/** The process that uses a data folder now; undefined if none does. */
export function findInstance(dataDir: string): number | undefined {
  const holder = readIfPresent(join(dataDir, "instance.lock"));
  return holder !== undefined && isRunning(holder) ? Number(holder.split(" ")[0]) : undefined;
}

/** Only one process succeeds in creating the hard link, even if several try at once. */
function linkIfAbsent(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Moves the stale lock aside; if another start has replaced it in the meantime, its lock is restored. */
function removeStale(path: string, stale: string, pid: number): void {
  const aside = `${path}.stale.${pid}`;
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  if (readIfPresent(aside) !== stale) linkIfAbsent(aside, path);
  rmSync(aside, { force: true });
}

function releaseIfOwn(path: string, own: string): void {
  if (readIfPresent(path) === own) rmSync(path, { force: true });
}

function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function isRunning(holder: string): boolean {
  const match = /^(\d{1,10}) (.+)\n$/.exec(holder);
  return match !== null && processStart(Number(match[1])) === match[2];
}

/** The start time of a process, as the system formats it; `gone` if there is no such process. */
function processStart(pid: number): string {
  if (process.platform === "linux") {
    const stat = readIfPresent(`/proc/${pid}/stat`);
    // The second field is the program's name in parentheses and can contain spaces; the state is the third, the start time the 22nd.
    const [state = "X", ...rest] = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? [];
    // A zombie stays listed until its parent has waited for it.
    return /[ZX]/.test(state) ? "gone" : (rest[18] ?? "gone");
  }
  try {
    return execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).trim() || "gone";
  } catch {
    return "gone";
  }
}
