import type {
  AuditHead,
  ChainedAuditEntry,
  ListedAuditEntry,
  StrayEntry,
} from "../../../app/audit/audit-entry.js";
import { type ChainPosition, chainStart } from "../../../app/audit/chain-hash.js";
import type { Queryable } from "../../core/database.js";
import { type Statement, sql } from "../../core/sql.js";

/** PostgreSQL's bigint arrives as a string. */
export type Stored<T> = Omit<T, "number"> & { number: string };
export type AuditRow = Stored<ChainedAuditEntry>;

export const entryColumns = sql`
    tenant_id AS "tenantId", number, occurred_at AS "occurredAt", actor, client_id AS "clientId", token_id AS "tokenId",
    session_id AS "sessionId", action, object, objects, outcome, code, reason, repeated, request_id AS "requestId", address, hash,
    key_id AS "keyId"
  `;

export function readEntries(rows: readonly AuditRow[]): ChainedAuditEntry[] {
  return rows.map((row) => ({ ...row, number: BigInt(row.number) }));
}

/** Served by the primary keys of audit_entries, read backwards, and of audit_bases. */
export function listEntries(
  source: Queryable,
  tenantId: string,
  limit: number,
  before: bigint | undefined,
): Promise<ListedAuditEntry[]> {
  const condition = before === undefined ? sql`` : sql`AND number < ${before.toString()}`;
  return findEntries(source, tenantId, condition, limit);
}

/**
 * The newest entries of a tenant that a condition selects, each with the hash that it continues, and none in the place of one that was
 * removed. The condition decides which index serves it; what an entry continues is served by the primary keys.
 */
export async function findEntries(
  source: Queryable,
  tenantId: string,
  condition: Statement,
  limit: number,
): Promise<ListedAuditEntry[]> {
  const rows = await source.query<
    AuditRow & { previousHash: Buffer | null; previousKeyId: string | null }
  >(sql`
    WITH base AS (SELECT number, hash, key_id FROM audit_bases WHERE tenant_id = ${tenantId})
    SELECT e.*, coalesce(p.hash, b.hash) AS "previousHash", coalesce(p.key_id, b.key_id) AS "previousKeyId"
    FROM (
      SELECT ${entryColumns} FROM audit_entries
      WHERE tenant_id = ${tenantId} AND number > coalesce((SELECT number FROM base), 0)
        ${condition}
      ORDER BY number DESC LIMIT ${limit}
    ) e
    LEFT JOIN base b ON b.number = e.number - 1
    LEFT JOIN LATERAL (
      SELECT hash, key_id FROM audit_entries
      WHERE tenant_id = ${tenantId} AND number = e.number - 1 AND b.number IS NULL LIMIT 1
    ) p ON true
    ORDER BY e.number DESC
  `);
  return rows.map(({ previousHash, previousKeyId, ...row }) => ({
    ...row,
    number: BigInt(row.number),
    previous: previousHash === null ? null : { hash: previousHash, keyId: previousKeyId },
  }));
}

/**
 * Heads and entries are read in one statement, so that an entry which is being appended is not taken for a stray. Served by the primary
 * key of audit_entries, twice for each chain.
 */
export async function listStrays(source: Queryable): Promise<StrayEntry[]> {
  const rows = await source.query<Stored<StrayEntry>>(sql`
    SELECT h.tenant_id AS "tenantId", e.number, 'after the head' AS place
    FROM audit_heads h CROSS JOIN LATERAL (
      SELECT number FROM audit_entries WHERE tenant_id = h.tenant_id AND number > h.number ORDER BY number LIMIT 1) e
    UNION ALL
    SELECT h.tenant_id, e.number, 'removed'
    FROM audit_heads h LEFT JOIN audit_bases b ON b.tenant_id = h.tenant_id CROSS JOIN LATERAL (
      SELECT number FROM audit_entries WHERE tenant_id = h.tenant_id AND number <= coalesce(b.number, 0)
      ORDER BY number LIMIT 1) e
    ORDER BY 1, 2
  `);
  return rows.map((row) => ({ ...row, number: BigInt(row.number) }));
}

/**
 * The first place after a number with so many free ones; the number before it is returned. Not simply after the highest one: that may be
 * the last number that there is. Served by the primary key, read from the number up to the place.
 */
export async function findFreeNumbers(
  source: Queryable,
  tenantId: string,
  from: bigint,
  count: number,
): Promise<bigint> {
  const [row] = await source.query<{ number: string }>(sql`
    SELECT number FROM (
      SELECT number, lead(number) OVER (ORDER BY number) AS next FROM (
        SELECT ${from.toString()}::bigint AS number
        UNION ALL
        (SELECT number FROM audit_entries WHERE tenant_id = ${tenantId} AND number > ${from.toString()} ORDER BY number)
        ORDER BY number
      ) taken
    ) places
    WHERE next IS NULL OR next - number > ${count} LIMIT 1
  `);
  if (row === undefined) throw new Error("a chain has no free number");
  return BigInt(row.number);
}

/**
 * The last entry of a chain whose head was changed, if the number in the head is right; otherwise the last one before that number, or where
 * the chain was removed to. A trigger bounds the number. Served by the primary keys.
 */
export async function findLastEntry(
  source: Queryable,
  { tenantId, number }: AuditHead,
): Promise<ChainPosition> {
  const [last] = await source.query<Stored<ChainPosition>>(sql`
    SELECT number, hash FROM (
      (SELECT number, hash FROM audit_entries WHERE tenant_id = ${tenantId} AND number <= ${number.toString()} ORDER BY number DESC LIMIT 1)
      UNION ALL
      SELECT number, hash FROM audit_bases WHERE tenant_id = ${tenantId}
    ) known ORDER BY number DESC LIMIT 1
  `);
  return {
    tenantId,
    number: BigInt(last?.number ?? 0),
    hash: last?.hash ?? Buffer.from(chainStart),
  };
}
