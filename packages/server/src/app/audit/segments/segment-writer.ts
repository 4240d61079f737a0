import { constants, type FileHandle, link, open, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import type { IntegrityKeys } from "../../access/integrity-keys.js";
import type { ChainedAuditEntry } from "../audit-entry.js";
import { readLines } from "./read-lines.js";
import { endLine, entryLine, headerLine, type Segment } from "./segment.js";
import { createSegmentReader, hasFault, type SegmentVerdict, verifySegment } from "./verify-segment.js";

/**
 * Writes a segment to `FILE.partial`, and gives it its name when it is complete, on disk and verified. A writer that finds the partial
 * file of one that was interrupted continues it.
 */
export interface SegmentWriter {
  /** The entries that the file will have; those of an earlier writer, if it is continued. */
  range: { first: bigint; last: bigint };
  /** The number of the last entry that is written. */
  written: () => bigint;
  /** Appends entries. Undefined, or what is wrong with one of them. */
  append: (entries: readonly ChainedAuditEntry[]) => Promise<string | undefined>;
  /** Signs, verifies and publishes the file. */
  finish: (now: Date) => Promise<SegmentVerdict>;
  close: () => Promise<void>;
}

const fileMode = 0o600;

export async function openSegmentWriter(
  keys: IntegrityKeys,
  path: string,
  range: Omit<Segment, "hash">,
): Promise<SegmentWriter | { fault: string }> {
  const partial = `${path}.partial`;
  if (await exists(path)) return { fault: `${path} exists already` };
  const file = await open(partial, constants.O_RDWR | constants.O_CREAT, fileMode);
  try {
    const reader = createSegmentReader(keys);
    const kept = await continuePartial(reader, partial, range);
    if (typeof kept === "string") {
      await file.close();
      return { fault: kept };
    }
    await file.truncate(kept);
    return createWriter({ keys, path, partial, file, reader, bytes: kept, range });
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** The number of bytes to keep, or why the partial file cannot be continued. */
async function continuePartial(
  reader: ReturnType<typeof createSegmentReader>,
  partial: string,
  range: Omit<Segment, "hash">,
): Promise<number | string> {
  let bytes = 0;
  for await (const line of readLines(partial)) {
    const header = reader.header();
    if (header !== undefined && reader.position()?.number === header.last) break;
    const fault = reader.read(line);
    if (fault !== undefined) return `${partial} cannot be continued: ${fault}. Remove it`;
    bytes += Buffer.byteLength(line) + 1;
  }
  const header = reader.header();
  const isOther = header !== undefined && headerLine({ ...header, last: range.last }) !== headerLine(range);
  return isOther ? `${partial} is of another export. Remove it` : bytes;
}

interface OpenFile {
  keys: IntegrityKeys;
  path: string;
  partial: string;
  file: FileHandle;
  reader: ReturnType<typeof createSegmentReader>;
  bytes: number;
  range: Omit<Segment, "hash">;
}

function createWriter({ keys, path, partial, file, reader, bytes, range }: OpenFile): SegmentWriter {
  let end = bytes;
  let waiting: string[] = [];
  if (reader.header() === undefined) add(headerLine(range));

  function add(line: string): string | undefined {
    waiting.push(`${line}\n`);
    return reader.read(line);
  }
  async function flush(): Promise<void> {
    const content = Buffer.from(waiting.join(""));
    waiting = [];
    for (let written = 0; written < content.length; ) {
      const { bytesWritten } = await file.write(content, written, content.length - written, end);
      written += bytesWritten;
      end += bytesWritten;
    }
  }
  const { first, last } = reader.header() ?? range;

  return {
    range: { first, last },
    written: () => reader.position()?.number ?? first - 1n,
    append: async (entries) => {
      for (const entry of entries) {
        const fault = add(entryLine(entry));
        if (fault !== undefined) return fault;
      }
      await flush();
      return undefined;
    },
    finish: async (now) => {
      const hash = reader.position()?.hash ?? range.previousHash;
      waiting.push(`${endLine(keys, hash, reader.digest(), now)}\n`);
      await flush();
      await file.sync();
      // What is on disk is verified, in case that a second export wrote to the same file.
      const verdict = await verifySegment(keys, partial);
      if (hasFault(verdict)) return { fault: `${partial} is damaged: ${verdict.fault}` };
      // A link, because a rename would replace a file of that name.
      await link(partial, path);
      await unlink(partial);
      await syncFolder(dirname(path));
      return verdict;
    },
    close: () => file.close(),
  };
}

async function exists(path: string): Promise<boolean> {
  try {
    await (await open(path, "r")).close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

/** So that the name is on disk before entries are removed from the database. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
