import { type FileHandle, open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/** A file of JSON lines that is only appended to, and belongs to one process at a time. */
export interface JournalFile {
  /** What the file held when it was opened. */
  entries: unknown[];
  /** Writes lines; they are on the disk when it returns. */
  append: (entries: readonly unknown[]) => Promise<void>;
  /** Replaces the content. A crash leaves either the old or the new one. */
  replace: (entries: readonly unknown[]) => Promise<void>;
  close: () => Promise<void>;
}

/** Numbers of processes are used again, in containers nearly always, so a process must know its own locks. */
const openHere = new Set<string>();

export async function openJournalFile(path: string): Promise<JournalFile> {
  const lockPath = `${path}.lock`;
  await lock(lockPath);
  try {
    const { entries, intactBytes } = await read(path);
    let file = await open(path, "a", 0o600);
    // A line that a crash has cut off was never acknowledged.
    await file.truncate(intactBytes);
    return {
      entries,
      append: async (added) => {
        await write(file, added);
      },
      replace: async (kept) => {
        const next = await open(`${path}.next`, "w", 0o600);
        await write(next, kept);
        await next.close();
        await rename(`${path}.next`, path);
        await syncFolder(dirname(path));
        await file.close();
        file = await open(path, "a", 0o600);
      },
      close: async () => {
        await file.close();
        await unlock(lockPath);
      },
    };
  } catch (error) {
    await unlock(lockPath);
    throw error;
  }
}

async function unlock(lockPath: string): Promise<void> {
  openHere.delete(lockPath);
  await rm(lockPath, { force: true });
}

async function write(file: FileHandle, entries: readonly unknown[]): Promise<void> {
  await file.appendFile(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
  await file.datasync();
}

async function read(path: string): Promise<{ entries: unknown[]; intactBytes: number }> {
  const content = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return Buffer.alloc(0);
    throw error;
  });
  const intactBytes = content.lastIndexOf(0x0a) + 1;
  const lines = content.subarray(0, intactBytes).toString("utf8").split("\n").slice(0, -1);
  return {
    intactBytes,
    entries: lines.map((line, at): unknown => {
      try {
        return JSON.parse(line);
      } catch {
        throw new Error(`${path} is damaged in line ${at + 1}.`);
      }
    }),
  };
}

/** One process writes. A lock that a dead process has left is taken over. */
async function lock(lockPath: string): Promise<void> {
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      const file = await open(lockPath, "wx", 0o600);
      await file.writeFile(`${process.pid}\n`);
      await file.close();
      openHere.add(lockPath);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      const holder = Number((await readFile(lockPath, "utf8").catch(() => "")).trim());
      if (attempt > 0 || isAlive(holder, lockPath))
        throw new Error(`${lockPath} belongs to process ${holder}. Only one process can use the journal.`);
      await rm(lockPath, { force: true });
    }
  }
}

/** A lock of this process is one of an earlier process with its number, unless it is open here. */
function isAlive(pid: number, lockPath: string): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  if (pid === process.pid) return openHere.has(lockPath);
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  await folder.sync();
  await folder.close();
}
