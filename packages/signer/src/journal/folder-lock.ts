import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OperatorError } from "../operator-error.js";

/**
 * One process per folder. The lock is a file with a process id, and one that a killed process has left is ignored. It only gives the
 * second process a good message: the journal itself notices another writer before anything is answered.
 */
export function lockFolder(folder: string): () => void {
  const path = join(folder, "pid");
  if (!tryLock(path)) {
    const pid = Number(readFileSync(path, "utf8"));
    if (isSigner(pid)) throw new OperatorError(`The process ${pid} is already using ${folder}.`);
    rmSync(path, { force: true });
    if (!tryLock(path)) throw new OperatorError(`Another process has just begun to use ${folder}.`);
  }
  return () => rmSync(path, { force: true });
}

function tryLock(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** A process id can belong to another program by now, which Linux can say. */
function isSigner(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // A process of another account exists, and does not take signals from this one.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("signer");
  } catch {
    return true;
  }
}
