import { setTimeout as sleep } from "node:timers/promises";
import { isolateFailingRows } from "../../runtime/concurrency/isolate-failing-rows.js";
import { type Database, isDatabaseUnavailable, isStatementTimeout } from "../core/database.js";
import { idAt } from "../core/id-at.js";
import { joinByKey, listKeys } from "../core/rows/locate-rows.js";
import { removeInBatches } from "../core/rows/remove-in-batches.js";
import { waitingTenants } from "../core/rows/waiting-tenants.js";
import { type Statement, sql } from "../core/sql.js";
import { listDeletedEndpoints, removeUnreferenced } from "./deleted-endpoints.js";

/** What could not be removed: a delivery, without an id what else a tenant has, and without a tenant the counts of old hours. */
export interface RetentionFailure {
  tenantId?: string;
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

/** If the statements of this many tenants time out one after the other, it is the database that is slow. */
const timeoutsMax = 3;

/**
 * Removes deliveries that are older than `before`, those that wait for an endpoint that was deleted, and then the deleted endpoints that
 * nothing refers to. An id begins with its time and rows are written in that order, so the oldest are next to each other: removing them
 * empties whole pages, which PostgreSQL reuses. Returns how many deliveries were removed. Throws only if the database is unavailable.
 */
export async function removeOldDeliveries(database: Database, options: RetentionOptions): Promise<number> {
  let removed = 0;
  let timeouts = 0;
  await removeOldHours(database, options);
  for (const tenantId of await listTenants(database)) {
    if (options.isStopping()) break;
    try {
      removed += await removeOfTenant(database, tenantId, options);
      timeouts = 0;
    } catch (error) {
      // What one tenant has may be too much for a statement; that must not keep what the others have.
      timeouts += isStatementTimeout(error) ? 1 : 0;
      const isOfTenant =
        !isDatabaseUnavailable(error) || (isStatementTimeout(error) && timeouts < timeoutsMax);
      if (!isOfTenant) throw error;
      options.onFailure({ tenantId }, error);
    }
  }
  return removed;
}

/** Not tenant by tenant: also those without deliveries and endpoints have hours. Served by webhook_hours_by_start. */
async function removeOldHours(
  database: Database,
  { before, isStopping, onFailure }: RetentionOptions,
): Promise<void> {
  const isOld = sql`r.start < ${before} ORDER BY r.start`;
  try {
    await removeInBatches(database, sql`webhook_hours`, isOld, { isStopping, pauseMs });
  } catch (error) {
    if (isDatabaseUnavailable(error) && !isStatementTimeout(error)) throw error;
    onFailure({}, error);
  }
}

async function removeOfTenant(
  database: Database,
  tenantId: string,
  options: RetentionOptions,
): Promise<number> {
  const isOld = sql`id < ${idAt(options.before)}`;
  const remove = (table: Statement, condition: Statement) =>
    removeRange(database, { tenantId, table, condition }, options);
  // Two ranges of the primary keys. The retry schedule ends after three days: an older pending delivery waits for a disabled endpoint.
  let removed =
    (await remove(sql`finished_deliveries`, isOld)) + (await remove(sql`pending_deliveries`, isOld));
  for (let afterId = idMin; !options.isStopping(); ) {
    const page = await listDeletedEndpoints(database, tenantId, afterId, batchMax);
    // A range of pending_deliveries_by_endpoint for each.
    for (const { id } of page.filter(({ hasPending }) => hasPending))
      removed += await remove(sql`pending_deliveries`, sql`endpoint_id = ${id}`);
    if (page.length > 0)
      await removeUnreferenced(
        database,
        tenantId,
        page.map(({ id }) => id),
      );
    if (page.length < batchMax) break;
    afterId = page.at(-1)?.id ?? afterId;
    await sleep(pauseMs);
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

/** Tenants that have an endpoint or a delivery: one step of a primary key for each. */
async function listTenants(database: Database): Promise<string[]> {
  const found = new Set<string>();
  for (const table of [sql`webhook_endpoints`, sql`pending_deliveries`, sql`finished_deliveries`])
    for (let after = idMin; ; ) {
      const rows = { table, where: sql`true`, key: sql`o.id` };
      const page = await database.query<{ tenantId: string }>(sql`
        WITH RECURSIVE waiting AS (${waitingTenants(rows, { limit: batchMax, after: sql`${after}::uuid` })})
        SELECT tenant_id AS "tenantId" FROM waiting ORDER BY place
      `);
      for (const { tenantId } of page) found.add(tenantId);
      if (page.length < batchMax) break;
      after = page.at(-1)?.tenantId ?? after;
    }
  return [...found];
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
