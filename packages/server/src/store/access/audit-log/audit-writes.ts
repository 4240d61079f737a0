import type { AuditBase, AuditWrite } from "../../../app/audit/audit-entry.js";
import { type ChainPosition, isPositionAuthentic } from "../../../app/audit/chain-hash.js";
import type { CommittedFact } from "../../../runtime/database/commit-witnesses.js";
import { type Queryable, requireKeys, type Tx } from "../../core/database.js";
import { removeInBatches } from "../../core/rows/remove-in-batches.js";
import { sql } from "../../core/sql.js";
import type { Stored } from "./audit-rows.js";

/**
 * Whether a write was committed before. The row of an earlier attempt only makes this one wait for it, and look: somebody else can insert
 * such a row. What counts is that the entries are in their chains. They are witnessed once more, so that somebody who has put them there
 * cannot take them out again.
 */
export async function wasWritten(tx: Tx, write: AuditWrite): Promise<boolean> {
  return !(await beginWrite(tx, write)) && (await isPlaced(tx, write.attempts));
}

/** Whether the entries of one of these attempts are in their chains. */
export async function isPlaced(tx: Tx, attempts: AuditWrite["attempts"]): Promise<boolean> {
  const placed = await findInChains(tx, attempts);
  for (const position of placed ?? []) tx.witness(factOf(position));
  return placed !== undefined;
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

/**
 * The attempt whose entries are in their chains. Some of them can have been exported and removed since; of an attempt that has none left
 * it is not known that they were its own, so it is repeated rather than lost. Served by the primary keys.
 */
async function findInChains(tx: Tx, attempts: AuditWrite["attempts"]): Promise<ChainPosition[] | undefined> {
  const all = attempts.flat();
  if (all.length === 0) return undefined;
  const rows = await tx.query<Found>(sql`
    SELECT EXISTS (SELECT FROM audit_entries e
        WHERE e.tenant_id = placed.tenant_id AND e.number = placed.number AND e.hash = placed.hash) AS "isThere",
      b.number, b.hash, b.key_id AS "keyId", b.mac
    FROM unnest(
      ${all.map(({ tenantId }) => tenantId)}::uuid[], ${all.map(({ number }) => number.toString())}::bigint[],
      ${all.map(({ hash }) => Buffer.from(hash))}::bytea[]
    ) WITH ORDINALITY AS placed (tenant_id, number, hash, place)
    LEFT JOIN audit_bases b ON b.tenant_id = placed.tenant_id AND b.number >= placed.number
    ORDER BY place
  `);
  const found = new Map(all.map((position, index) => [position, rows[index]]));
  return attempts.find(
    (placed) =>
      placed.some((position) => found.get(position)?.isThere) &&
      placed.every(
        (position) => found.get(position)?.isThere || isRemoved(tx, position, found.get(position)),
      ),
  );
}

interface Found extends Partial<Stored<AuditBase>> {
  isThere: boolean;
}

function isRemoved(tx: Tx, { tenantId }: ChainPosition, base: Found | undefined): boolean {
  const { number, hash, keyId, mac } = base ?? {};
  if (!number || !hash || !keyId || !mac) return false;
  return isPositionAuthentic(requireKeys(tx), "base", { tenantId, number: BigInt(number), hash, keyId, mac });
}

/** Of processes that have ended. Served by audit_writes_by_time. */
export async function removeOldAuditWrites(database: Queryable): Promise<void> {
  const isOld = sql`r.written_at < now() - interval '30 days' ORDER BY r.written_at`;
  await removeInBatches(database, sql`audit_writes`, isOld);
}

export function factOf({ tenantId, number, hash }: ChainPosition): CommittedFact {
  return { kind: "audit entry", tenantId, at: Number(number), mark: Buffer.from(hash).toString("hex") };
}
