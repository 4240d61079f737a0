import type { AuditWrite } from "../../../app/audit/audit-entry.js";
import type { ChainPosition } from "../../../app/audit/chain-hash.js";
import type { CommittedFact } from "../../../runtime/database/commit-witnesses.js";
import type { Queryable, Tx } from "../../core/database.js";
import { removeInBatches } from "../../core/rows/remove-in-batches.js";
import { sql } from "../../core/sql.js";

/**
 * Whether a write was committed before. The row of an earlier attempt only makes this one wait for it, and look: somebody else can insert
 * such a row. What counts is that the entries are in their chains. They are witnessed once more, so that somebody who has put them there
 * cannot take them out again.
 */
export async function wasWritten(tx: Tx, write: AuditWrite): Promise<boolean> {
  if (await beginWrite(tx, write)) return false;
  for (const placed of write.attempts) {
    if (!(await isInChains(tx, placed))) continue;
    for (const position of placed) tx.witness(factOf(position));
    return true;
  }
  return false;
}

/**
 * Whether the write has no row yet. A write that may have been committed is repeated with the same number: then this waits for the first one
 * to end. The rows of writes that are not repeated any more are removed. Served by the primary key.
 */
async function beginWrite(tx: Queryable, { writerId, number, settledBelow }: AuditWrite): Promise<boolean> {
  const inserted = await tx.query(sql`
    WITH settled AS (DELETE FROM audit_writes WHERE writer_id = ${writerId} AND number < ${settledBelow})
    INSERT INTO audit_writes (writer_id, number, written_at) VALUES (${writerId}, ${number}, now())
    ON CONFLICT DO NOTHING RETURNING number
  `);
  return inserted.length === 1;
}

/** Served by the primary key. */
async function isInChains(tx: Queryable, placed: readonly ChainPosition[]): Promise<boolean> {
  const found = await tx.query(sql`
    SELECT e.number FROM unnest(
      ${placed.map(({ tenantId }) => tenantId)}::uuid[], ${placed.map(({ number }) => number.toString())}::bigint[],
      ${placed.map(({ hash }) => Buffer.from(hash))}::bytea[]
    ) AS placed (tenant_id, number, hash)
    JOIN audit_entries e ON e.tenant_id = placed.tenant_id AND e.number = placed.number AND e.hash = placed.hash
  `);
  return found.length === placed.length;
}

/** Of processes that have ended. Served by audit_writes_by_time. */
export async function removeOldAuditWrites(database: Queryable): Promise<void> {
  const isOld = sql`r.written_at < now() - interval '30 days' ORDER BY r.written_at`;
  await removeInBatches(database, sql`audit_writes`, isOld);
}

export function factOf({ tenantId, number, hash }: ChainPosition): CommittedFact {
  return { kind: "audit entry", tenantId, at: Number(number), mark: Buffer.from(hash).toString("hex") };
}
