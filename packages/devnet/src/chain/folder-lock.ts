import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Two processes must not write one journal. The lock is a file with a process id; a killed process leaves one that is ignored. */
export function lockFolder(folder: string): () => void {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "pid");
  if (!tryLock(path)) {
    const pid = Number(readFileSync(path, "utf8"));
    if (isDevnet(pid)) throw new Error(`The process ${pid} is already using ${folder}.`);
    rmSync(path);
    if (!tryLock(path)) throw new Error(`Another process has just begun to use ${folder}.`);
  }
  return () => rmSync(path, { force: true });
}

function tryLock(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** A process id can belong to another program by now, which Linux can say. */
function isDevnet(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("devnet");
  } catch {
    return true;
  }
}
