import { type FileHandle, open, stat } from "node:fs/promises";
import { join } from "node:path";
import { OperatorError } from "../operator-error.js";
import { countPacked } from "../records/signed-attempts.js";
import type { JournalChain } from "./journal-chain.js";
import type { CompactedEntry, JournalEntry } from "./journal-entry.js";
import { headPath, type JournalHead, openJournalHead, readJournalHead } from "./journal-head.js";
import { readJournal } from "./read-journal.js";

/**
 * Everything that the signer has done, in the order in which it was decided. What is not in the journal was not answered: an entry is
 * on the disk before anybody sees the signature.
 */
export interface Journal {
  /** Resolves when the entries, and all that were added before, are on the disk. Entries that arrive together share one sync. */
  readonly append: (entries: readonly JournalEntry[]) => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface OpenedJournal {
  readonly journal: Journal;
  /** Bytes of a last line that was incomplete. */
  readonly tornBytes: number;
  readonly position: () => JournalPosition;
}

/** How far the journal goes. Lines are counted from the first one ever, also in a journal that was compacted. */
export interface JournalPosition extends JournalHead {
  /** The first line that is in the file itself. */
  readonly firstLine: number;
  readonly bytes: number;
}

interface Waiting {
  readonly text: string;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export const journalPath = (folder: string) => join(folder, "journal.jsonl");

/** Creates a journal with its first line. There must not be one. */
export async function createJournal(folder: string, chain: JournalChain, at: string): Promise<void> {
  const file = await open(journalPath(folder), "wx", 0o600);
  try {
    await file.writeFile(chain.append({ type: "signer", version: 1, at }));
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Reads every entry, removes an incomplete last line, and continues the file. */
export async function openJournal(
  folder: string,
  chain: JournalChain,
  onEntry: (entry: JournalEntry) => void,
  { acceptsBackup }: { readonly acceptsBackup: boolean },
): Promise<OpenedJournal> {
  const path = journalPath(folder);
  const head = await readJournalHead(folder);
  let signatures = 0;
  const { bytes, tornBytes, base } = readAll(path, chain, head, (entry) => {
    if (entry.type === "signature") signatures += 1;
    if (entry.type === "signatures") signatures += countPacked(entry.records);
    onEntry(entry);
  });
  const headOf = () => ({ lines: lineNumber(base, chain.lines()), mac: chain.head() });
  if (head === undefined && signatures > 0 && !acceptsBackup)
    throw new OperatorError(explainMissingHead(folder, signatures));
  const file = await open(path, "a", 0o600);
  if (tornBytes > 0) {
    await file.truncate(bytes);
    await file.datasync();
  }
  const writeHead = await openJournalHead(folder);
  await writeHead.write(headOf());
  await writeHead.sync();
  const writer = createWriter({ path, file, chain, bytes, headOf, writeHead: writeHead.write });
  const close = async () => {
    await writer.close();
    await writeHead.close();
  };
  const firstLine = (base?.replaced.lines ?? 0) + 1;
  const position = () => ({ ...headOf(), firstLine, bytes: writer.bytes() });
  return { journal: { append: writer.append, close }, tornBytes, position };
}

/** The number of a line, from its place in the file. */
function lineNumber(base: CompactedEntry | undefined, place: number): number {
  return base === undefined ? place : base.replaced.lines + place - 1 - base.summaryLines;
}

function readAll(
  path: string,
  chain: JournalChain,
  head: JournalHead | undefined,
  onEntry: (entry: JournalEntry) => void,
) {
  let headMac: string | undefined;
  let base: CompactedEntry | undefined;
  const read = () =>
    readJournal(path, chain, (entry) => {
      if (entry.type === "compacted") base = entry;
      if (lineNumber(base, chain.lines()) === head?.lines) headMac = chain.head();
      onEntry(entry);
    });
  const result = explainMissing(path, read);
  if (chain.lines() === 0)
    throw new OperatorError(`${path} is empty. Restore the journal; nothing is signed without it.`);
  const lines = lineNumber(base, chain.lines());
  const isSummaryCut = base !== undefined && lines < base.replaced.lines;
  if (isSummaryCut || (head !== undefined && !isReached(head, headMac, base)))
    throw new OperatorError(
      `${path} has ${lines} lines, but ${Math.max(head?.lines ?? 0, base?.replaced.lines ?? 0)} were written before: its end was removed, or it is an older copy. Restore the newest one; nothing is signed until then.`,
    );
  return { ...result, base };
}

/** Whether the journal goes as far as the head says. A head from before the journal was compacted may be at a line that it sums up. */
function isReached(
  head: JournalHead,
  headMac: string | undefined,
  base: CompactedEntry | undefined,
): boolean {
  if (head.mac === headMac) return true;
  if (base === undefined) return false;
  const { lines, mac } = base.replaced;
  return head.lines < lines || (head.lines === lines && head.mac === mac);
}

/** Without it nobody can see whether the end of the journal is missing, and what was signed there could be signed again differently. */
function explainMissingHead(folder: string, signatures: number): string {
  return `${headPath(folder)} is missing, and the journal has ${signatures} ${signatures === 1 ? "signature" : "signatures"}: nothing shows whether its end was removed. If this is the newest copy of the journal, start once with --journal-from-backup.`;
}

function explainMissing<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ENOENT") throw cause;
    throw new OperatorError(
      `${path} does not exist, but the seed does. Restore the journal; without it the signer does not know what it has signed.`,
      { cause },
    );
  }
}

interface WriterDeps {
  readonly path: string;
  readonly file: FileHandle;
  readonly chain: JournalChain;
  readonly bytes: number;
  readonly headOf: () => JournalHead;
  readonly writeHead: (head: JournalHead) => Promise<void>;
}

/** Group commit: what arrives during a sync is written with the next one. */
function createWriter(deps: WriterDeps): Journal & { readonly bytes: () => number } {
  const { path, file, chain, bytes, headOf, writeHead } = deps;
  let waiting: Waiting[] = [];
  let running: Promise<void> | undefined;
  let size = bytes;
  /** After a failure nothing may be answered: what was decided is not on the disk. */
  let failure: Error | undefined;
  /** A second process writes to the same end, or replaces the file, so this is noticed here, before anything is answered. */
  const refuseOtherWriter = async () => {
    const [own, named] = await Promise.all([file.stat(), stat(path)]);
    if (named.ino !== own.ino)
      throw new Error(`${path} is another file now: another process has replaced it`);
    if (named.size !== size)
      throw new Error(`${path} has ${named.size} bytes instead of ${size}: another process writes to it`);
  };
  const write = async (batch: readonly Waiting[]) => {
    const content = Buffer.from(batch.map(({ text }) => text).join(""));
    const head = headOf();
    await refuseOtherWriter();
    if (content.length === 0) return;
    await file.appendFile(content);
    await file.datasync();
    size += content.length;
    await refuseOtherWriter();
    await writeHead(head);
  };
  const run = async () => {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        if (failure !== undefined) throw failure;
        await write(batch);
        for (const { resolve } of batch) resolve();
      } catch (error) {
        failure = error as Error;
        for (const { reject } of batch) reject(error);
      }
    }
    running = undefined;
  };
  return {
    bytes: () => size,
    append: (entries) => {
      const text = entries.map(chain.append).join("");
      return new Promise((resolve, reject) => {
        waiting.push({ text, resolve, reject });
        running ??= run();
      });
    },
    close: async () => {
      await running;
      await file.close();
    },
  };
}
