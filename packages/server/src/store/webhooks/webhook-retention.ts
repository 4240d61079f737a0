import { setTimeout as sleep } from "node:timers/promises";
import { isolateFailingRows } from "../../runtime/isolate-failing-rows.js";
import { type Database, isDatabaseUnavailable } from "../core/database.js";
import { idAt } from "../core/id-at.js";
import { joinByKey, listKeys } from "../core/locate-rows.js";
import { type Statement, sql } from "../core/sql.js";

/** What could not be removed: a delivery, or without an id whatever else a tenant has. */
export interface RetentionFailure {
  tenantId: string;
  id?: string;
}

export interface RetentionOptions {
  /** Deliveries that are older are removed. */
  before: Date;
  isStopping: () => boolean;
  /** Names what stays until the next run. The other deliveries and tenants are processed all the same. */
  onFailure: (failed: RetentionFailure, error: unknown) => void;
}

/** Deliveries of one tenant that are removed; an index serves its condition in the order of ids. */
interface Range {
  tenantId: string;
  table: Statement;
  condition: Statement;
}

/** Small enough for a delete to take a few milliseconds, so that other statements do not wait for it. */
const batchMax = 1000;
const pauseMs = 10;
const idMin = "00000000-0000-0000-0000-000000000000";

/**
 * Removes deliveries that are older than `before`, and those that wait for an endpoint that was deleted. An id begins with its time and
 * rows are written in that order, so the oldest are next to each other: removing them empties whole pages, which PostgreSQL reuses.
 * Returns how many were removed. Throws only if the database is unavailable.
 */
export async function removeOldDeliveries(database: Database, options: RetentionOptions): Promise<number> {
  let removed = 0;
  for (const tenantId of await listTenants(database)) {
    try {
      for (const range of await listRanges(database, tenantId, idAt(options.before)))
        removed += await removeRange(database, range, options);
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      options.onFailure({ tenantId }, error);
    }
  }
  return removed;
}

async function removeRange(
  database: Database,
  range: Range,
  { isStopping, onFailure }: RetentionOptions,
): Promise<number> {
  const { tenantId } = range;
  let removed = 0;
  // Each page begins after the last id of the one before, so a row that cannot be removed is tried once in a run.
  for (let afterId = idMin; !isStopping(); ) {
    const ids = await listPage(database, range, afterId);
    const counts = await isolateFailingRows(ids, (some) => removeDeliveries(database, range, some), {
      isUnavailable: isDatabaseUnavailable,
      onFailure: (id, error) => onFailure({ tenantId, id }, error),
    });
    removed += counts.reduce((sum, count) => sum + count, 0);
    if (ids.length < batchMax) break;
    afterId = ids.at(-1) ?? afterId;
    await sleep(pauseMs);
  }
  return removed;
}

/** Tenants that have, or have had, an endpoint; one step of the primary key for each endpoint. */
async function listTenants(database: Database): Promise<string[]> {
  const rows = await database.query<{ tenantId: string }>(
    sql`SELECT DISTINCT tenant_id AS "tenantId" FROM webhook_endpoints`,
  );
  return rows.map(({ tenantId }) => tenantId);
}

/** Two ranges of the primary keys, and one of pending_deliveries_by_endpoint for each endpoint that was deleted. */
async function listRanges(database: Database, tenantId: string, beforeId: string): Promise<Range[]> {
  const isOld = sql`id < ${beforeId}`;
  const deleted = await listDeletedEndpoints(database, tenantId);
  return [
    { tenantId, table: sql`finished_deliveries`, condition: isOld },
    // The retry schedule ends after three days: an older delivery waits for an endpoint that is disabled.
    { tenantId, table: sql`pending_deliveries`, condition: isOld },
    ...deleted.map((endpointId) => ({
      tenantId,
      table: sql`pending_deliveries`,
      condition: sql`endpoint_id = ${endpointId}`,
    })),
  ];
}

/** Deleted endpoints that deliveries still wait for. Served by the primary key and pending_deliveries_queue. */
async function listDeletedEndpoints(database: Database, tenantId: string): Promise<string[]> {
  const rows = await database.query<{ id: string }>(sql`
    SELECT id FROM webhook_endpoints e
    WHERE tenant_id = ${tenantId} AND state = 'deleted'
      AND EXISTS (SELECT FROM pending_deliveries p WHERE p.tenant_id = e.tenant_id AND p.endpoint_id = e.id)
  `);
  return rows.map(({ id }) => id);
}

async function listPage(
  database: Database,
  { tenantId, table, condition }: Range,
  afterId: string,
): Promise<string[]> {
  const rows = await database.query<{ id: string }>(sql`
    SELECT id FROM ${table} WHERE tenant_id = ${tenantId} AND ${condition} AND id > ${afterId}
    ORDER BY id LIMIT ${batchMax}
  `);
  return rows.map(({ id }) => id);
}

/** Served by the primary key. A row that is locked is in use by another process and stays until the next run. */
async function removeDeliveries(
  database: Database,
  { tenantId, table }: Range,
  ids: readonly string[],
): Promise<number> {
  const rows = await database.query(sql`
    DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
      SELECT r.ctid FROM ${listKeys(ids.map((id) => ({ tenantId, id })))}
      ${joinByKey(sql`(SELECT *, ctid AS place FROM ${table})`, sql`found`, sql`given`)}
      CROSS JOIN LATERAL (SELECT r.ctid FROM ${table} r WHERE r.ctid = found.place FOR UPDATE SKIP LOCKED) AS r))
    RETURNING id
  `);
  return rows.length;
}
