import { constants } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { OperatorError } from "../operator-error.js";

/**
 * How far the journal was written: its number of lines and the MAC of the last one. The MACs cannot show that the end of the journal
 * was cut off; this file can. It is not synced, so after a power failure it may be older than the journal, never newer.
 */
export interface JournalHead {
  readonly lines: number;
  readonly mac: string;
}

/** One sector, so that a write is never torn. */
const fileBytes = 128;

export const headPath = (folder: string) => join(folder, "journal.head");

/** Undefined if there is none: a folder that was restored from a backup of the journal and the seed. */
export async function readJournalHead(folder: string): Promise<JournalHead | undefined> {
  const path = headPath(folder);
  let content: string;
  try {
    content = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const fields = /^([1-9][0-9]*) ([0-9a-f]{64}) *\n$/.exec(content);
  if (fields === null)
    throw new OperatorError(
      `${path} is damaged. Compare the journal with a backup, then delete this file and start once with --journal-from-backup.`,
    );
  return { lines: Number(fields[1]), mac: fields[2] as string };
}

export async function openJournalHead(folder: string) {
  // Not truncated: the old content stays until it is overwritten.
  const file = await open(headPath(folder), constants.O_RDWR | constants.O_CREAT, 0o600);
  return {
    write: async ({ lines, mac }: JournalHead) => {
      const content = `${`${lines} ${mac}`.padEnd(fileBytes - 1)}\n`;
      await file.write(content, 0, "utf8");
    },
    /** Puts the file itself on the disk: without it the journal is refused. */
    sync: async () => {
      await file.sync();
      const parent = await open(folder, "r");
      await parent.sync().finally(() => parent.close());
    },
    close: () => file.close(),
  };
}
