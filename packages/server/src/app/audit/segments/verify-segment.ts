import { createHash } from "node:crypto";
import type { IntegrityKeys } from "../../access/integrity-keys.js";
import { chainStart } from "../chain-hash.js";
import { createChainWalk } from "../chain-walk.js";
import type { Checkpoint } from "../checkpoint.js";
import { LineTooLongError, readLines } from "./read-lines.js";
import { faultOfEnd, hex, readEntry, readHeader, type Segment } from "./segment.js";

/** A verified segment, or the first fault in its file. */
export type SegmentVerdict = Segment | { fault: string };

export function hasFault(verdict: SegmentVerdict): verdict is { fault: string } {
  return "fault" in verdict;
}

/** Verifies a file: its header, every hash of its entries, and its signed end. It reads the file once, line by line. */
export async function verifySegment(
  keys: IntegrityKeys,
  path: string,
  checkpoints: (tenantId: string) => readonly Checkpoint[] = () => [],
): Promise<SegmentVerdict> {
  try {
    return await verifyLines(keys, readLines(path), checkpoints);
  } catch (error) {
    if (error instanceof LineTooLongError) return { fault: "a line is longer than that of any entry" };
    throw error;
  }
}

async function verifyLines(
  keys: IntegrityKeys,
  lines: AsyncGenerator<string>,
  checkpoints: (tenantId: string) => readonly Checkpoint[],
): Promise<SegmentVerdict> {
  const reader = createSegmentReader(keys, checkpoints);
  for await (const line of lines) {
    const fault = reader.read(line);
    if (fault !== undefined) return { fault };
  }
  return reader.finish();
}

/** Reads the lines of a segment in their order. Each says what is wrong with its line. */
export function createSegmentReader(
  keys: IntegrityKeys,
  checkpoints: (tenantId: string) => readonly Checkpoint[] = () => [],
) {
  const digest = createHash("sha256");
  let header: ReturnType<typeof readHeader>;
  let walk: ReturnType<typeof createChainWalk> | undefined;
  let isEnded = false;

  function readFirst(line: string): string | undefined {
    header = readHeader(line);
    if (header === undefined) return "it does not start with the header of an exported audit log";
    const { first, previousHash, tenantId } = header;
    if (first === 1n && hex(previousHash) !== hex(chainStart)) return "the header was changed";
    walk = createChainWalk(keys, startOf(header), checkpoints(tenantId));
    return undefined;
  }

  function read(line: string): string | undefined {
    if (isEnded) return "there are lines after the signed end";
    if (header === undefined || walk === undefined) {
      digest.update(`${line}\n`);
      return readFirst(line);
    }
    const { number, hash } = walk.position();
    if (number === header.last) {
      isEnded = true;
      return faultOfEnd(keys, line, { hash, digest: digest.copy().digest() });
    }
    const entry = readEntry(header.tenantId, line);
    if (entry === undefined) return `the line after entry ${number} is not an entry of the audit log`;
    digest.update(`${line}\n`);
    return walk.step(entry);
  }

  return {
    read,
    digest: () => digest.copy().digest(),
    header: () => header,
    position: () => walk?.position(),
    finish: (): SegmentVerdict => {
      const position = walk?.position();
      if (header === undefined || position === undefined) return { fault: "the file is empty" };
      if (!isEnded) return { fault: `the file was cut after entry ${position.number}` };
      return { ...header, hash: position.hash };
    },
  };
}

/** A segment ends with a keyed entry, so only the first one can start before the chain was keyed. */
function startOf({ first, previousHash }: Pick<Segment, "first" | "previousHash">) {
  const start = { number: first - 1n, hash: previousHash };
  return first === 1n ? start : { ...start, keyId: "keyed" };
}
