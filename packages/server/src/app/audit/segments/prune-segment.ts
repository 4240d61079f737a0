import { type ChainedAuditEntry, describeAct } from "../audit-entry.js";
import { chainStart } from "../chain-hash.js";
import { faultOfEnds, type SegmentDeps } from "./export-segment.js";
import { readLines } from "./read-lines.js";
import { entryLine, hex, readEntry, type Segment } from "./segment.js";
import type { ChainEnds } from "./segment-store.js";
import { hasFault, verifySegment } from "./verify-segment.js";

type PruneVerdict = { first: bigint; last: bigint } | { fault: string };

/** Rows removed in one SQL transaction. */
const batchSize = 1000;

class OtherEntryError extends Error {
  override readonly name = "OtherEntryError";
}

/**
 * Removes what a verified file contains from the database, oldest first, and only entries that are equal to those in the file. A base
 * row, authenticated with the master key, says where the chain continues. A command that was interrupted can be run again.
 */
export async function pruneSegment(
  deps: SegmentDeps,
  { tenantId, path }: { tenantId: string; path: string },
): Promise<PruneVerdict> {
  const segment = await verifySegment(deps.keys, path);
  if (hasFault(segment)) return segment;
  if (segment.tenantId !== tenantId) return { fault: "the file is of another tenant" };
  const ends = await deps.store.readEnds(tenantId);
  if (ends === undefined) return { fault: "there is no audit log of this tenant" };
  const fault = faultOfEnds(deps.keys, ends) ?? faultOfJoin(segment, ends);
  if (fault !== undefined) return { fault };
  try {
    return await removeBatches(deps, segment, path, ends.base?.number ?? 0n);
  } catch (error) {
    if (error instanceof OtherEntryError) return { fault: error.message };
    throw error;
  }
}

/** Only entries that follow the last one that was removed, and that a checkpoint outside of the database covers, are removed. */
function faultOfJoin(segment: Segment, { head, base, checkpointNumber }: ChainEnds): string | undefined {
  const { first, last, previousHash } = segment;
  const from = base ?? { number: 0n, hash: chainStart };
  if (last <= from.number) return `the entries up to ${from.number} have been removed before`;
  if (first > from.number + 1n)
    return `entries ${from.number + 1n} to ${first - 1n} are still in the database; remove the earlier segment first`;
  if (first === from.number + 1n && hex(previousHash) !== hex(from.hash))
    return `the file does not continue the chain after entry ${from.number}`;
  if (last > checkpointNumber || last > head.number)
    return `no published checkpoint covers entry ${last} yet`;
  return undefined;
}

async function removeBatches(
  { store, now }: SegmentDeps,
  { tenantId, last }: Segment,
  path: string,
  start: bigint,
): Promise<PruneVerdict> {
  let from = start;
  let batch: ChainedAuditEntry[] = [];
  const remove = async () => {
    const to = batch.at(-1);
    if (to === undefined) return;
    const exported = batch;
    const act = () =>
      describeAct({ by: "operator", tenantId }, "audit.prune", `entries ${from + 1n} to ${last}`, now());
    await store.remove({
      from,
      to: { tenantId, number: to.number, hash: to.hash },
      check: (removed) => assertEqual(exported, removed),
      // Recorded with the first entries, so that an interrupted command has left its entry too.
      entry: from === start ? act() : undefined,
      now: now(),
    });
    from = to.number;
    batch = [];
  };
  for await (const line of readLines(path)) {
    const entry = readEntry(tenantId, line);
    // The header and the end are not entries, and an earlier command may have removed the first ones.
    if (entry === undefined || entry.number <= start) continue;
    batch.push(entry);
    if (batch.length >= batchSize) await remove();
  }
  await remove();
  return { first: start + 1n, last };
}

function assertEqual(exported: readonly ChainedAuditEntry[], removed: readonly ChainedAuditEntry[]): void {
  for (const [index, entry] of exported.entries()) {
    const found = removed[index];
    if (found === undefined || entryLine(found) !== entryLine(entry))
      throw new OtherEntryError(
        `entry ${entry.number} in the database is not the one in the file. Run \`bursar audit verify\``,
      );
  }
  if (removed.length !== exported.length)
    throw new OtherEntryError("the database has other entries than the file");
}
