import type { TraceContext } from "../../runtime/tracing/trace-context.js";
import type { Queryable } from "../core/database.js";
import { idAt } from "../core/id-at.js";
import { listKeys } from "../core/rows/locate-rows.js";
import { removeInBatches } from "../core/rows/remove-in-batches.js";
import { type Statement, sql } from "../core/sql.js";

/** The version of a transaction or an order that its request has made. */
export const requestVersion = 1;

/** The span that has made a version of a transaction or an order, for the webhooks of its event to continue. */
export interface VersionContext {
  tenantId: string;
  subjectId: string;
  version: number;
  context: TraceContext;
}

/**
 * A part of the statement that accepts a batch of transactions or orders, after `accepted`: nothing if no request of it is recorded.
 */
export function insertRequestContexts(
  batch: readonly { id: string; trace?: TraceContext | undefined }[],
): Statement {
  const traced = batch.filter(({ trace }) => trace !== undefined);
  if (traced.length === 0) return sql``;
  return sql`, traced AS (
      INSERT INTO trace_contexts (tenant_id, transaction_id, version, context)
      SELECT accepted.tenant_id, accepted.id, ${requestVersion}, given.context
      FROM unnest(${traced.map(({ id }) => id)}::uuid[], ${traced.map(({ trace }) => trace && pack(trace))}::bytea[])
        AS given (id, context) JOIN accepted ON accepted.id = given.id
    )`;
}

/** `transaction_id` is the id of the transaction or the order. */
export function insertContexts(contexts: readonly VersionContext[]): Statement {
  return sql`
    INSERT INTO trace_contexts (tenant_id, transaction_id, version, context) SELECT * FROM unnest(
      ${contexts.map(({ tenantId }) => tenantId)}::uuid[], ${contexts.map(({ subjectId }) => subjectId)}::uuid[],
      ${contexts.map(({ version }) => version)}::integer[], ${contexts.map(({ context }) => pack(context))}::bytea[])
  `;
}

/** The contexts of the requests that have created transactions or orders, by their ids. Served by the primary key. */
export async function readRequestContexts(
  source: Queryable,
  keys: readonly { tenantId: string; id: string }[],
): Promise<ReadonlyMap<string, TraceContext>> {
  const rows = await source.query<{ id: string; context: Buffer }>(sql`
    SELECT c.transaction_id AS id, c.context FROM ${listKeys(keys)} CROSS JOIN LATERAL (
      SELECT c.transaction_id, c.context FROM trace_contexts c
      WHERE c.tenant_id = given.tenant_id AND c.transaction_id = given.id AND c.version = ${requestVersion} LIMIT 1) AS c
  `);
  return new Map(rows.map(({ id, context }) => [id, unpack(context)]));
}

/** Served by the primary key. */
export async function readContexts(
  source: Queryable,
  tenantId: string,
  wanted: readonly { subjectId: string; version: number }[],
): Promise<Omit<VersionContext, "tenantId">[]> {
  const rows = await source.query<{ subjectId: string; version: number; context: Buffer }>(sql`
    SELECT c.transaction_id AS "subjectId", c.version, c.context
    FROM unnest(${wanted.map(({ subjectId }) => subjectId)}::uuid[], ${wanted.map(({ version }) => version)}::integer[])
      AS given (id, version) CROSS JOIN LATERAL (
        SELECT * FROM trace_contexts c
        WHERE c.tenant_id = ${tenantId} AND c.transaction_id = given.id AND c.version = given.version LIMIT 1) AS c
  `);
  return rows.map((row) => ({ ...row, context: unpack(row.context) }));
}

/** Webhooks are retried for nearly three days. */
const keptMs = 7 * 86_400_000;

/** Served by trace_contexts_by_age. */
export async function removeOldContexts(database: Queryable, nowMs: number): Promise<void> {
  const before = idAt(new Date(nowMs - keptMs));
  await removeInBatches(
    database,
    sql`trace_contexts`,
    sql`r.transaction_id < ${before} ORDER BY r.transaction_id`,
  );
}

/** Only what is recorded is stored, so there is no flag. */
function pack({ traceId, spanId }: TraceContext): string {
  return `\\x${traceId}${spanId}`;
}

function unpack(context: Buffer): TraceContext {
  const text = context.toString("hex");
  return { traceId: text.slice(0, 32), spanId: text.slice(32), isSampled: true };
}
