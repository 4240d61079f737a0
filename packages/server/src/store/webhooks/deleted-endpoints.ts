import type { Queryable } from "../core/database.js";
import { listKeys } from "../core/rows/locate-rows.js";
import { type Statement, sql } from "../core/sql.js";

/**
 * Removes those of these endpoints that were deleted and that nothing refers to, with their leases; returns how many. A deleted endpoint
 * gets no new deliveries, except those of a backlog that exists already. One look into the primary key and two other indexes for each.
 */
export async function removeUnreferenced(
  source: Queryable,
  tenantId: string,
  endpointIds: readonly string[],
): Promise<number> {
  const keys = listKeys(endpointIds.map((id) => ({ tenantId, id })));
  const rows = await source.query(sql`
    WITH removed AS (
      DELETE FROM webhook_endpoints WHERE ctid = ANY (ARRAY(
        SELECT e.ctid FROM ${keys} CROSS JOIN LATERAL (
          SELECT e.ctid FROM webhook_endpoints e
          WHERE e.tenant_id = given.tenant_id AND e.id = given.id AND e.state = 'deleted'
            AND NOT ${hasBacklog} AND NOT ${isNamedIn(sql`pending_deliveries`)} AND NOT ${isNamedIn(sql`finished_deliveries`)}
          FOR UPDATE SKIP LOCKED) AS e))
      RETURNING tenant_id, id
    ), leases AS (
      DELETE FROM webhook_leases WHERE ctid = ANY (ARRAY(
        SELECT l.ctid FROM removed CROSS JOIN LATERAL (
          SELECT l.ctid FROM webhook_leases l WHERE l.tenant_id = removed.tenant_id AND l.endpoint_id = removed.id LIMIT 1) AS l)))
    SELECT id FROM removed
  `);
  return rows.length;
}

/** A page of the endpoints that a tenant has deleted. Served by the primary key; a tenant has few that are not deleted. */
export async function listDeletedEndpoints(
  source: Queryable,
  tenantId: string,
  afterId: string,
  limit: number,
): Promise<{ id: string; hasPending: boolean }[]> {
  return await source.query<{ id: string; hasPending: boolean }>(sql`
    SELECT e.id, ${isNamedIn(sql`pending_deliveries`)} AS "hasPending" FROM (
      SELECT e.tenant_id, e.id FROM webhook_endpoints e
      WHERE e.tenant_id = ${tenantId} AND e.state = 'deleted' AND e.id > ${afterId}
      ORDER BY e.id LIMIT ${limit}) AS e
  `);
}

const hasBacklog = sql`EXISTS (SELECT FROM delivery_backlogs b WHERE b.tenant_id = e.tenant_id LIMIT 1)`;

/** Whether a delivery is to the endpoint `e`. The first one from there on, in an order that only an index by endpoint has. */
function isNamedIn(table: Statement): Statement {
  return sql`coalesce((
    SELECT d.tenant_id = e.tenant_id AND d.endpoint_id = e.id FROM ${table} d
    WHERE (d.tenant_id, d.endpoint_id) >= (e.tenant_id, e.id) ORDER BY d.tenant_id, d.endpoint_id LIMIT 1), false)`;
}
