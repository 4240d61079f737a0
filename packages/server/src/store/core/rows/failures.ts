import type { Database, Queryable } from "../database.js";
import { queryWithin } from "../lock-waits.js";
import { type Statement, sql } from "../sql.js";

/**
 * A table whose rows record their own failures: how often they failed, why, and when they are tried next. A claim leaves out the
 * rows that are not due yet. Each has a partial index on `id` over the rows that have a `last_error`.
 */
export interface FailureTable {
  /** What an operator calls such a row. */
  kind: string;
  table: Statement;
  /** The columns that count the failures and say when the row is tried next; a table may use these names for something else. */
  attempts: Statement;
  retryAt: Statement;
}

export interface RowKey {
  tenantId: string;
  id: string;
}

export interface FailedRow extends RowKey {
  attempts: number;
  lastError: string;
  retryAt: Date | null;
}

const firstDelaySeconds = 5;
const delayMaxSeconds = 600;
const errorLengthMax = 500;

/** What failed may have failed because something else holds a lock on its row. */
const lockTimeoutMs = 1000;

/** Records a failure on a row: it is tried again in 5 s, 10 s, 20 s and so on up to 10 min. Served by the primary key. */
export async function recordFailure(
  database: Pick<Database, "transaction">,
  { table, attempts, retryAt }: FailureTable,
  { tenantId, id }: RowKey,
  error: unknown,
  now: Date,
): Promise<void> {
  const write = sql`
    UPDATE ${table} SET ${attempts} = least(${attempts} + 1, 32767), last_error = ${messageOf(error)},
      ${retryAt} = ${now}::timestamptz + interval '1 second'
        * least(${firstDelaySeconds}::integer * 2.0 ^ least(${attempts}, 20), ${delayMaxSeconds}::integer)
    WHERE tenant_id = ${tenantId} AND id = ${id}
  `;
  await queryWithin(database, lockTimeoutMs, write);
}

/** Rows that have failed and were not processed since, oldest first. */
export async function listFailures(
  source: Queryable,
  { table, attempts, retryAt }: FailureTable,
  limit: number,
): Promise<FailedRow[]> {
  return await source.query<FailedRow>(sql`
    SELECT tenant_id AS "tenantId", id, ${attempts} AS attempts, last_error AS "lastError", ${retryAt} AS "retryAt"
    FROM ${table} WHERE last_error IS NOT NULL ORDER BY id LIMIT ${limit}
  `);
}

/** Makes failed rows due now, one of them or all; returns how many. What they record stays until they are processed. */
export async function retryFailures(
  source: Queryable,
  { table, retryAt }: FailureTable,
  id: string | "all",
  now: Date,
): Promise<number> {
  const rows = await source.query(sql`
    UPDATE ${table} SET ${retryAt} = ${now}
    WHERE last_error IS NOT NULL ${id === "all" ? sql`` : sql`AND id = ${id}`} RETURNING id
  `);
  return rows.length;
}

/**
 * Those of one tenant, the ones that are tried next first. Each table has an index on (tenant, time, id) over such rows. There is no other
 * condition, so that an index over rows that only wait does not serve it too.
 */
export async function listFailuresOf(
  source: Queryable,
  { table, attempts, retryAt }: FailureTable,
  tenantId: string,
  limit: number,
): Promise<Pick<FailedRow, "id" | "attempts" | "retryAt">[]> {
  return await source.query<Pick<FailedRow, "id" | "attempts" | "retryAt">>(sql`
    SELECT id, ${attempts} AS attempts, ${retryAt} AS "retryAt" FROM ${table}
    WHERE tenant_id = ${tenantId} AND last_error IS NOT NULL ORDER BY ${retryAt}, id LIMIT ${limit}
  `);
}

/** Makes a failed row of a tenant due now. Served by the primary key. */
export async function retryFailureOf(
  source: Queryable,
  { table, retryAt }: FailureTable,
  { tenantId, id }: RowKey,
  now: Date,
): Promise<boolean> {
  const rows = await source.query(sql`
    UPDATE ${table} SET ${retryAt} = ${now} WHERE tenant_id = ${tenantId} AND id = ${id} AND last_error IS NOT NULL RETURNING id
  `);
  return rows.length === 1;
}

/** PostgreSQL stores any string but one with a zero character or half a surrogate pair in it. */
export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.slice(0, errorLengthMax).replaceAll("\u0000", "\ufffd").toWellFormed();
}
