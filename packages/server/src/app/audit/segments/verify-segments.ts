import type { IntegrityKeys } from "../../access/integrity-keys.js";
import { groupByTenant } from "../audit-chain.js";
import type { Checkpoint } from "../checkpoint.js";
import { hex, type Segment } from "./segment.js";
import type { SegmentStore } from "./segment-store.js";
import { hasFault, type SegmentVerdict, verifySegment } from "./verify-segment.js";

export interface FileVerdict {
  path: string;
  verdict: SegmentVerdict;
}

interface FileSegment {
  path: string;
  segment: Segment;
}

/**
 * Verifies exported segments: each file, that the files of a tenant continue each other without a gap, and that the last one continues
 * in the database. The first need not start at entry 1, because older files may have been disposed of.
 */
export async function verifySegments(
  { store, keys }: { store: SegmentStore; keys: IntegrityKeys },
  paths: readonly string[],
  checkpoints: readonly Checkpoint[],
): Promise<FileVerdict[]> {
  const byTenant = groupByTenant(checkpoints);
  const verdicts: FileVerdict[] = [];
  const intact = new Map<string, FileSegment[]>();
  for (const path of paths) {
    const verdict = await verifySegment(keys, path, (tenantId) => byTenant.get(tenantId) ?? []);
    if (hasFault(verdict)) {
      verdicts.push({ path, verdict });
      continue;
    }
    const group = intact.get(verdict.tenantId) ?? [];
    group.push({ path, segment: verdict });
    intact.set(verdict.tenantId, group);
  }
  for (const group of intact.values()) verdicts.push(...(await verifyJoins(store, group)));
  return verdicts;
}

async function verifyJoins(store: SegmentStore, files: FileSegment[]): Promise<FileVerdict[]> {
  files.sort((a, b) => Number(a.segment.first - b.segment.first));
  const verdicts: FileVerdict[] = [];
  for (const [index, { path, segment }] of files.entries()) {
    const next = files[index + 1];
    const fault =
      next === undefined ? await faultOfLast(store, segment) : faultBetween(segment, next.segment, next.path);
    verdicts.push({ path, verdict: fault === undefined ? segment : { fault } });
  }
  return verdicts;
}

function faultBetween(segment: Segment, next: Segment, nextPath: string): string | undefined {
  if (next.first > segment.last + 1n)
    return `entries ${segment.last + 1n} to ${next.first - 1n}, between it and ${nextPath}, are missing`;
  if (next.first <= segment.last) return `it overlaps with ${nextPath}, which starts at entry ${next.first}`;
  return hex(next.previousHash) === hex(segment.hash)
    ? undefined
    : `${nextPath} does not continue it: the chain was written again`;
}

async function faultOfLast(store: SegmentStore, segment: Segment): Promise<string | undefined> {
  const { tenantId, last, hash } = segment;
  const ends = await store.readEnds(tenantId);
  if (ends === undefined) return "the database has no audit log of its tenant";
  const { base } = ends;
  if (base !== undefined && last < base.number)
    return `entries ${last + 1n} to ${base.number} were removed from the database, and are in none of the files`;
  const kept = base?.number === last ? base : (await store.listAscending(tenantId, 1, last - 1n))[0];
  return kept?.number === last && hex(kept.hash) === hex(hash)
    ? undefined
    : `it does not continue in the database: entry ${last} is missing there, or was written again`;
}
