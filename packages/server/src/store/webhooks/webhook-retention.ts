import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../core/database.js";
import { idAt } from "../core/id-at.js";
import { sql } from "../core/sql.js";

/** Small enough for a delete to take some milliseconds, and for others not to wait for it. */
const batchMax = 1000;
const pauseMs = 10;

/**
 * Removes deliveries that are older than `before`, and those that wait for an endpoint that was deleted. An id begins with its
 * time and rows are written in that order, so the oldest stand together: what is removed leaves whole pages, which are used again.
 * Says how many it has removed.
 */
export async function removeOldDeliveries(
  database: Database,
  before: Date,
  isStopping: () => boolean,
): Promise<number> {
  let removed = 0;
  let failure: unknown;
  for (const tenantId of await listTenants(database)) {
    for (const remove of [removeFinished, removePending, removeOfDeleted]) {
      try {
        for (let count = batchMax; count === batchMax && !isStopping(); ) {
          count = await remove(database, tenantId, idAt(before));
          removed += count;
          if (count === batchMax) await sleep(pauseMs);
        }
      } catch (error) {
        // What cannot be removed of one does not keep the others.
        failure = error;
      }
    }
  }
  if (failure !== undefined) throw failure;
  return removed;
}

/** Those that have, or have had, an endpoint; by the primary key, one step for each. */
async function listTenants(database: Database): Promise<string[]> {
  const rows = await database.query<{ tenantId: string }>(
    sql`SELECT DISTINCT tenant_id AS "tenantId" FROM webhook_endpoints`,
  );
  return rows.map(({ tenantId }) => tenantId);
}

/** A range of the primary key, as is the next. */
async function removeFinished(database: Database, tenantId: string, beforeId: string): Promise<number> {
  const rows = await database.query(sql`
    DELETE FROM finished_deliveries WHERE tenant_id = ${tenantId} AND id IN (
      SELECT id FROM finished_deliveries WHERE tenant_id = ${tenantId} AND id < ${beforeId}
      ORDER BY id LIMIT ${batchMax} FOR UPDATE SKIP LOCKED)
    RETURNING id
  `);
  return rows.length;
}

/** The schedule ends after three days: what still waits then waits for an endpoint that is disabled. */
async function removePending(database: Database, tenantId: string, beforeId: string): Promise<number> {
  const rows = await database.query(sql`
    DELETE FROM pending_deliveries WHERE tenant_id = ${tenantId} AND id IN (
      SELECT id FROM pending_deliveries WHERE tenant_id = ${tenantId} AND id < ${beforeId}
      ORDER BY id LIMIT ${batchMax} FOR UPDATE SKIP LOCKED)
    RETURNING id
  `);
  return rows.length;
}

/** Served by pending_deliveries_queue. */
async function removeOfDeleted(database: Database, tenantId: string): Promise<number> {
  const rows = await database.query(sql`
    DELETE FROM pending_deliveries WHERE tenant_id = ${tenantId} AND id IN (
      SELECT p.id FROM webhook_endpoints e
      JOIN pending_deliveries p ON p.tenant_id = e.tenant_id AND p.endpoint_id = e.id
      WHERE e.tenant_id = ${tenantId} AND e.state = 'deleted'
      LIMIT ${batchMax} FOR UPDATE OF p SKIP LOCKED)
    RETURNING id
  `);
  return rows.length;
}
