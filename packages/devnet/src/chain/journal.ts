import { type FileHandle, mkdir, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ChainIdentity } from "./edr.js";

/**
 * The journal is the chain: a file with a line of JSON for each block, written and synced before the block can be seen. The EVM keeps
 * everything in memory, so a start executes the journal again.
 */
export interface Journal {
  readonly append: (entry: JournalEntry) => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface JournalBlock {
  readonly number: number;
  readonly hash: string;
  readonly timestamp: number;
  readonly coinbase: string;
  /** Set if the base fee was chosen instead of following from the block before. In wei. */
  readonly baseFee?: string;
  /** Signed transactions, in the order of the block. */
  readonly transactions: readonly string[];
}

/** A change of the state that no transaction made, such as a balance that was set. */
export interface JournalState {
  readonly method: string;
  readonly params: readonly unknown[];
}

export type JournalEntry =
  | { readonly type: "chain"; readonly version: 1; readonly identity: ChainIdentity }
  | ({ readonly type: "block" } & JournalBlock)
  | ({ readonly type: "state" } & JournalState)
  /** One line, so that a crash keeps either the old blocks or the new ones. */
  | { readonly type: "reorganisation"; readonly depth: number; readonly blocks: readonly JournalBlock[] };

/** What is executed to rebuild the chain: blocks that were reorganised away are not part of it. */
export type ReplayStep =
  | ({ readonly type: "block" } & JournalBlock)
  | ({ readonly type: "state" } & JournalState);

export interface OpenedJournal {
  readonly journal: Journal;
  readonly identity: ChainIdentity | undefined;
  readonly steps: readonly ReplayStep[];
  /** Bytes of a damaged last line that were removed. */
  readonly cutBytes: number;
}

/** Nothing is kept without a folder. */
export const noJournal: Journal = { append: async () => {}, close: async () => {} };

export async function openJournal(folder: string): Promise<OpenedJournal> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, "journal.jsonl");
  const file = await open(path, "a+");
  const content = await readFile(path);
  const { entries, bytes } = readEntries(content, path);
  if (bytes < content.length) {
    await file.truncate(bytes);
    await file.datasync();
  }
  await syncFolder(folder);
  const [first] = entries;
  if (first !== undefined && first.type !== "chain") throw new Error(`${path} does not begin with a chain.`);
  return {
    journal: { append: (entry) => append(file, entry), close: () => file.close() },
    identity: first?.identity,
    steps: canonicalSteps(entries),
    cutBytes: content.length - bytes,
  };
}

async function append(file: FileHandle, entry: JournalEntry): Promise<void> {
  await file.appendFile(`${JSON.stringify(entry)}\n`);
  await file.datasync();
}

/** A new file is only safe when its folder is synced too. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  await handle.sync().finally(() => handle.close());
}

/** The entries, and the number of bytes that they fill: a last line that is incomplete or unreadable was never acknowledged. */
export function readEntries(content: Buffer, path: string): { entries: JournalEntry[]; bytes: number } {
  const entries: JournalEntry[] = [];
  let start = 0;
  while (start < content.length) {
    const end = content.indexOf("\n", start);
    const entry = end < 0 ? undefined : parseEntry(content.toString("utf8", start, end));
    if (entry === undefined) {
      const isLast = end < 0 || end === content.length - 1;
      if (isLast) return { entries, bytes: start };
      throw new Error(
        `Line ${entries.length + 1} of ${path} is damaged, and others follow it. Restore the file, or delete it to begin a new chain.`,
      );
    }
    entries.push(entry);
    start = end + 1;
  }
  return { entries, bytes: start };
}

function parseEntry(line: string): JournalEntry | undefined {
  try {
    return JSON.parse(line) as JournalEntry;
  } catch {
    return undefined;
  }
}

/** A reorganisation removes blocks, and every change of the state after the first of them. */
export function canonicalSteps(entries: readonly JournalEntry[]): ReplayStep[] {
  const steps: ReplayStep[] = [];
  for (const entry of entries) {
    if (entry.type === "chain") continue;
    if (entry.type !== "reorganisation") {
      steps.push(entry);
      continue;
    }
    removeBlocks(steps, entry.depth);
    steps.push(...entry.blocks.map((block) => ({ type: "block" as const, ...block })));
  }
  return steps;
}

function removeBlocks(steps: ReplayStep[], depth: number): void {
  for (let removed = 0; removed < depth; ) {
    const step = steps.pop();
    if (step === undefined) throw new Error(`The journal removes ${depth} blocks, and has only ${removed}.`);
    if (step.type === "block") removed += 1;
  }
}
