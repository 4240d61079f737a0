import { createHash } from "node:crypto";
import { constants, statSync } from "node:fs";
import { type FileHandle, link, open, rename } from "node:fs/promises";
import { join } from "node:path";
import { OperatorError } from "../operator-error.js";
import type { SigningCore } from "../signing/signing-core.js";
import { type JournalPosition, journalPath } from "./journal.js";
import type { JournalChain } from "./journal-chain.js";
import type { CompactedEntry } from "./journal-entry.js";
import { readJournal } from "./read-journal.js";

/** What happens to the files, in this order. A crash after any of them leaves a journal that can be opened. */
export const compactionSteps = ["begun", "written", "verified", "archived", "replaced"] as const;
type CompactionStep = (typeof compactionSteps)[number];

export interface Compaction {
  readonly folder: string;
  /** What the journal was replayed into, and how far it goes. */
  readonly core: SigningCore;
  readonly position: JournalPosition;
  readonly newChain: () => JournalChain;
  readonly newCore: () => SigningCore;
  readonly at: string;
  /** Called after each step, for tests. */
  readonly onStep?: ((step: CompactionStep) => void) | undefined;
}

export interface Compacted {
  readonly archivePath: string;
  readonly bytesBefore: number;
  readonly bytes: number;
}

/** The journal that a compacted one replaces keeps its lines, for people: the signer does not need it. */
function archivePath(folder: string, firstLine: number): string {
  return join(folder, `journal-from-${firstLine}.jsonl`);
}

/** Whether the name is taken by another file. A compaction that was interrupted may have left it as a second name of the journal itself. */
export function hasOtherArchive(folder: string, firstLine: number): boolean {
  const archive = statSync(archivePath(folder, firstLine), { throwIfNoEntry: false });
  return archive !== undefined && archive.ino !== statSync(journalPath(folder)).ino;
}

/**
 * Replaces the journal by one that sums it up: what the rules need of each signature, 81 bytes instead of 660. Nothing is forgotten, because
 * a transaction or a nonce that is forgotten could be signed again. The new file is complete, on the disk and read again before it takes the
 * place of the old one, which stays under another name. The caller holds the lock of the folder, and does not append afterwards.
 */
export async function compactJournal(compaction: Compaction): Promise<Compacted> {
  const { folder, position, onStep = () => {} } = compaction;
  const path = journalPath(folder);
  const nextPath = `${path}.new`;
  const archive = archivePath(folder, position.firstLine);
  if (hasOtherArchive(folder, position.firstLine))
    throw new OperatorError(`${archive} exists already. Move it to another folder, then compact again.`);
  const file = await open(nextPath, constants.O_CREAT | constants.O_TRUNC | constants.O_WRONLY, 0o600);
  onStep("begun");
  let bytes: number;
  try {
    bytes = await writeSummary(file, compaction);
    await file.sync();
  } finally {
    await file.close();
  }
  onStep("written");
  verify(nextPath, compaction);
  onStep("verified");
  if (statSync(archive, { throwIfNoEntry: false }) === undefined) await link(path, archive);
  await syncFolder(folder);
  onStep("archived");
  refuseGrown(path, position);
  await rename(nextPath, path);
  await syncFolder(folder);
  onStep("replaced");
  return { archivePath: archive, bytesBefore: position.bytes, bytes };
}

const chunkBytes = 1 << 20;

async function writeSummary(file: FileHandle, compaction: Compaction): Promise<number> {
  const { core, position, newChain, at } = compaction;
  const chain = newChain();
  let summaryLines = 0;
  for (const _ of core.summarise(at)) summaryLines += 1;
  const { lines, mac } = position;
  const first: CompactedEntry = {
    ...{ type: "compacted", version: 1, at },
    ...{ replaced: { lines, mac }, summaryLines },
  };
  let chunk = chain.append(first);
  let bytes = 0;
  const flush = async () => {
    await file.appendFile(chunk);
    bytes += Buffer.byteLength(chunk);
    chunk = "";
  };
  for (const entry of core.summarise(at)) {
    chunk += chain.append(entry);
    if (chunk.length >= chunkBytes) await flush();
  }
  await flush();
  return bytes;
}

/** What is on the disk must leave the same behind as the journal. */
function verify(path: string, { core, newChain, newCore, at }: Compaction): void {
  const copy = newCore();
  const { tornBytes } = readJournal(path, newChain(), copy.replay);
  if (tornBytes > 0 || digestOf(copy, at) !== digestOf(core, at))
    throw new Error(`${path} does not sum up the journal, so the journal stays as it is`);
}

function digestOf(core: SigningCore, at: string): string {
  const hash = createHash("sha256");
  for (const entry of core.summarise(at)) hash.update(`${JSON.stringify(entry)}\n`);
  return hash.digest("hex");
}

/** Another process that writes to the journal finds its file replaced, and answers nothing. */
function refuseGrown(path: string, { bytes }: JournalPosition): void {
  if (statSync(path).size !== bytes)
    throw new OperatorError(`Another process writes to ${path}. Stop it, then compact again.`);
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  await handle.sync().finally(() => handle.close());
}
