import type { IntegrityKeys } from "../../access/integrity-keys.js";
import { chainStart, isPositionAuthentic } from "../chain-hash.js";
import type { Segment } from "./segment.js";
import type { ChainEnds, SegmentStore } from "./segment-store.js";
import { openSegmentWriter, type SegmentWriter } from "./segment-writer.js";
import { hasFault, type SegmentVerdict, verifySegment } from "./verify-segment.js";

export interface SegmentDeps {
  store: SegmentStore;
  keys: IntegrityKeys;
  now: () => Date;
}

export interface ExportRequest {
  tenantId: string;
  path: string;
  /** Entries from this one on, or from this time on, are left out. */
  before?: bigint | Date | undefined;
  /** Continues after the last entry of this segment, instead of after the last one that was removed. */
  afterPath?: string | undefined;
}

const pageSize = 1000;

/** Writes the entries of a chain that a published checkpoint covers to a file. The database is not changed. */
export async function exportSegment(deps: SegmentDeps, request: ExportRequest): Promise<SegmentVerdict> {
  const range = await chooseRange(deps, request);
  if (hasFault(range)) return range;
  const writer = await openSegmentWriter(deps.keys, request.path, range);
  if ("fault" in writer) return writer;
  try {
    return (await copyEntries(deps.store, range.tenantId, writer)) ?? (await writer.finish(deps.now()));
  } finally {
    await writer.close();
  }
}

async function chooseRange(
  { store, keys }: SegmentDeps,
  { tenantId, before, afterPath }: ExportRequest,
): Promise<Segment | { fault: string }> {
  const ends = await store.readEnds(tenantId);
  if (ends === undefined) return { fault: "there is no audit log of this tenant" };
  const changed = faultOfEnds(keys, ends);
  if (changed !== undefined) return { fault: changed };
  const start = await chooseStart(keys, tenantId, ends, afterPath);
  if ("fault" in start) return start;
  const closed = ends.checkpointNumber < ends.head.number ? ends.checkpointNumber : ends.head.number;
  const wanted =
    before === undefined
      ? closed
      : typeof before === "bigint"
        ? before - 1n
        : await store.findLastBefore(tenantId, before, ends);
  const last = wanted < closed ? wanted : closed;
  if (last <= start.number)
    return {
      fault: `there is nothing to export: the newest checkpoint covers entries up to ${closed}, and the export would be of entries ${start.number + 1n} to ${last}`,
    };
  const [entry] = await store.listAscending(tenantId, 1, last - 1n);
  if (entry?.number === last && entry.keyId === null)
    return { fault: `entry ${last} is from before the log was keyed; export up to a later one` };
  return {
    tenantId,
    first: start.number + 1n,
    last,
    previousHash: start.hash,
    hash: entry?.hash ?? new Uint8Array(),
  };
}

/** What is wrong with the ends of a chain: then it must be examined, not exported. */
export function faultOfEnds(keys: IntegrityKeys, { head, base }: ChainEnds): string | undefined {
  if (head.number === 0n) return "the audit log is empty";
  if (!isPositionAuthentic(keys, "head", head)) return "the head of the chain was changed";
  if (base !== undefined && !isPositionAuthentic(keys, "base", base))
    return `the record that entries up to ${base.number} were exported and removed is forged`;
  return undefined;
}

async function chooseStart(
  keys: IntegrityKeys,
  tenantId: string,
  { base }: ChainEnds,
  afterPath: string | undefined,
): Promise<{ number: bigint; hash: Uint8Array } | { fault: string }> {
  if (afterPath === undefined) return base ?? { number: 0n, hash: chainStart };
  const previous = await verifySegment(keys, afterPath);
  if (hasFault(previous)) return { fault: `${afterPath}: ${previous.fault}` };
  if (previous.tenantId !== tenantId) return { fault: `${afterPath} is of another tenant` };
  if (base !== undefined && previous.last < base.number)
    return { fault: `entries ${previous.last + 1n} to ${base.number} were removed from the database` };
  return { number: previous.last, hash: previous.hash };
}

async function copyEntries(
  store: SegmentStore,
  tenantId: string,
  writer: SegmentWriter,
): Promise<{ fault: string } | undefined> {
  const { last } = writer.range;
  while (writer.written() < last) {
    const page = await store.listAscending(tenantId, pageSize, writer.written());
    const wanted = page.filter(({ number }) => number <= last);
    if (wanted.length === 0) return { fault: `entry ${writer.written() + 1n} is missing` };
    const fault = await writer.append(wanted);
    if (fault !== undefined) return { fault };
  }
  return undefined;
}
