import { closeSync, openSync, readSync } from "node:fs";
import { OperatorError } from "../operator-error.js";
import type { JournalChain } from "./journal-chain.js";
import type { JournalEntry } from "./journal-entry.js";

const chunkBytes = 1 << 20;
const lineBytesMax = 4096;
const lineBreak = 0x0a;

export interface ReadJournal {
  /** The bytes of the complete lines. */
  readonly bytes: number;
  /** What follows them: a line whose writing was interrupted, so that nobody has seen what it says. */
  readonly tornBytes: number;
}

/** Reads the file in pieces, because a journal of a million signatures has 700 MB. Every line must follow from the ones before. */
export function readJournal(
  path: string,
  chain: JournalChain,
  onEntry: (entry: JournalEntry) => void,
): ReadJournal {
  const file = openSync(path, "r");
  const chunk = Buffer.alloc(chunkBytes);
  let rest: Buffer = Buffer.alloc(0);
  let bytes = 0;
  try {
    for (;;) {
      const size = readSync(file, chunk, 0, chunkBytes, null);
      if (size === 0) return { bytes, tornBytes: rest.length };
      const content = Buffer.concat([rest, chunk.subarray(0, size)]);
      const used = readLines(content, (line) => takeLine(path, chain, line, onEntry));
      bytes += used;
      rest = content.subarray(used);
      if (rest.length > lineBytesMax) refuseLine(path, chain);
    }
  } finally {
    closeSync(file);
  }
}

/** The number of bytes of the complete lines. */
function readLines(content: Buffer, onLine: (line: string) => void): number {
  let start = 0;
  for (;;) {
    const end = content.indexOf(lineBreak, start);
    if (end < 0) return start;
    onLine(content.toString("utf8", start, end));
    start = end + 1;
  }
}

function takeLine(
  path: string,
  chain: JournalChain,
  line: string,
  onEntry: (entry: JournalEntry) => void,
): void {
  const entry = chain.read(line);
  if (entry === undefined) refuseLine(path, chain);
  const isFirst = entry.type === "signer" || entry.type === "compacted";
  if ((chain.lines() === 1) !== isFirst) refuseLine(path, chain);
  onEntry(entry);
}

function refuseLine(path: string, chain: JournalChain): never {
  throw new OperatorError(
    `Line ${chain.lines() + 1} of ${path} does not follow from the lines before it: a line was changed or removed, or the journal belongs to another seed. Nothing is signed until the journal is restored.`,
  );
}
