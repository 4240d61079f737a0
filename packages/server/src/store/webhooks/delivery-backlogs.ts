import type { BacklogStore } from "../../app/webhooks/delivery-backlog.js";
import type { Database, Queryable, Tx } from "../core/database.js";
import { sql } from "../core/sql.js";
import { deliveriesMax, newDeliveryId } from "./webhook-queue.js";

/** The deliveries that were too many to be written with their events. */
export function createBacklogStore(database: Database): BacklogStore {
  return {
    // Served by the primary key.
    findBacklog: async (afterTenantId) => {
      const [row] = await database.query<{ tenantId: string }>(sql`
        SELECT tenant_id AS "tenantId" FROM delivery_backlogs
        ${afterTenantId === undefined ? sql`` : sql`WHERE tenant_id > ${afterTenantId}`} ORDER BY tenant_id LIMIT 1
      `);
      return row?.tenantId;
    },
    writeSome: (tenantId) => database.transaction((tx) => writeSome(tx, tenantId)),
  };
}

const eventsMax = 500;

/**
 * Writes the deliveries of the next events of a tenant. Only one process at a time does so for a tenant. The log is locked last, and only
 * to end the backlog: an event that is appended meanwhile would neither have its deliveries written nor be part of the backlog.
 */
async function writeSome(tx: Tx, tenantId: string): Promise<number> {
  // Served by primary keys and webhook_endpoints_enabled.
  const [backlog] = await tx.query<{ done: string; endpoints: number }>(sql`
    SELECT done_sequence AS done, (
      SELECT count(*)::integer FROM webhook_endpoints e WHERE e.tenant_id = b.tenant_id AND e.state = 'enabled') + (
      SELECT count(*)::integer FROM past_subscriptions p
      WHERE p.tenant_id = b.tenant_id AND p.upto_sequence > b.done_sequence) AS endpoints
    FROM delivery_backlogs b WHERE b.tenant_id = ${tenantId} FOR UPDATE SKIP LOCKED
  `);
  if (backlog === undefined) return 0;
  const limit = Math.min(eventsMax, Math.max(1, Math.floor(deliveriesMax / Math.max(1, backlog.endpoints))));
  const done = Number(backlog.done);
  const { last, events, deliveries } = await writeDeliveries(tx, tenantId, done, limit);
  const isAtEnd = events < limit && (await isEndOfLog(tx, tenantId, last ?? done));
  tx.send(
    isAtEnd
      ? sql`DELETE FROM delivery_backlogs WHERE tenant_id = ${tenantId}`
      : sql`UPDATE delivery_backlogs SET done_sequence = ${last ?? done} WHERE tenant_id = ${tenantId}`,
  );
  tx.send(
    sql`DELETE FROM past_subscriptions WHERE tenant_id = ${tenantId} AND upto_sequence <= ${last ?? done}`,
  );
  return deliveries;
}

/** Events are a range of their primary key, and endpoints of webhook_endpoints_enabled. */
async function writeDeliveries(tx: Queryable, tenantId: string, done: number, limit: number) {
  const [row] = await tx.query<{ last: string | null; events: number; deliveries: number }>(sql`
    WITH v AS MATERIALIZED (
      SELECT sequence, event, occurred_at FROM events
      WHERE tenant_id = ${tenantId} AND sequence > ${done} ORDER BY sequence LIMIT ${limit}
    ), written AS (
      INSERT INTO pending_deliveries (tenant_id, id, endpoint_id, sequence, event, due_at)
      SELECT ${tenantId}, ${newDeliveryId(sql`v.occurred_at`, sql`v.sequence`)}, subscribed.id, v.sequence, v.event, '-infinity'
      FROM v CROSS JOIN LATERAL (
        SELECT e.id FROM webhook_endpoints e
        WHERE e.tenant_id = ${tenantId} AND e.state = 'enabled' AND e.subscribed_after < v.sequence
          AND e.events && ARRAY['*', v.event]
        UNION ALL
        SELECT p.endpoint_id FROM past_subscriptions p
        WHERE p.tenant_id = ${tenantId} AND p.upto_sequence >= v.sequence AND p.after_sequence < v.sequence
          AND p.events && ARRAY['*', v.event]
      ) AS subscribed
      RETURNING 1
    )
    SELECT max(sequence) AS last, count(*)::integer AS events, (SELECT count(*)::integer FROM written) AS deliveries FROM v
  `);
  return {
    last: row?.last === null || row === undefined ? undefined : Number(row.last),
    events: row?.events ?? 0,
    deliveries: row?.deliveries ?? 0,
  };
}

/** Locks the log. Served by primary keys. */
async function isEndOfLog(tx: Queryable, tenantId: string, last: number): Promise<boolean> {
  await tx.query(sql`SELECT FROM event_sequences WHERE tenant_id = ${tenantId} FOR UPDATE`);
  const [row] = await tx.query<{ hasMore: boolean }>(sql`
    SELECT EXISTS (SELECT FROM events WHERE tenant_id = ${tenantId} AND sequence > ${last}) AS "hasMore"
  `);
  return row?.hasMore === false;
}
