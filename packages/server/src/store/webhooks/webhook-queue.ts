import { type Statement, sql } from "../core/sql.js";

/**
 * The id of a new delivery, a UUID of version 7: the time, then the low bits of the sequence, so that the deliveries of one
 * millisecond stay in order, then random bits. Made here because a whole batch of deliveries is one statement.
 */
export function newDeliveryId(time: Statement, sequence: Statement): Statement {
  return sql`(lpad(to_hex((extract(epoch FROM ${time}) * 1000)::bigint), 12, '0') || '7'
    || lpad(to_hex(${sequence} & 4095), 3, '0') || right(gen_random_uuid()::text, 17))::uuid`;
}

/** How many deliveries one statement writes. PostgreSQL writes some ten thousand a second. */
export const deliveriesMax = 1000;

/** How many events a tenant has in a batch, and how many enabled endpoints. */
export interface EventCount {
  tenantId: string;
  events: number;
  endpoints: number;
}

/**
 * The tenants of a batch whose deliveries are not written with it, because there are too many: 500 events for 500 endpoints would be 250,000
 * rows, for which every other tenant of the batch would wait. The smallest are written first.
 */
export function tenantsToDefer(counts: readonly EventCount[]): string[] {
  let deliveries = 0;
  return counts
    .toSorted((a, b) => a.events * a.endpoints - b.events * b.endpoints)
    .filter(({ events, endpoints }) => {
      deliveries += events * endpoints;
      return deliveries > deliveriesMax;
    })
    .map(({ tenantId }) => tenantId);
}

/**
 * Writes events together with their deliveries, in one statement: to every endpoint of the tenant that is enabled and wants
 * events of that kind. The deliveries of tenants that are deferred, or have a backlog, are written later, in the order of the log. The
 * caller holds the locks of the logs, so no backlog begins or ends meanwhile. Served by webhook_endpoints_enabled and the primary key.
 */
export function withDeliveries(insertEvents: Statement, deferred: readonly string[]): Statement {
  const hasNoBacklog = sql`NOT EXISTS (SELECT FROM delivery_backlogs b WHERE b.tenant_id = a.tenant_id)`;
  const isDeferred = sql`a.tenant_id = ANY (${[...deferred]}::uuid[])`;
  return sql`
    WITH appended AS (${insertEvents} RETURNING tenant_id, sequence, event, occurred_at),
    begun AS (
      INSERT INTO delivery_backlogs (tenant_id, done_sequence)
      SELECT a.tenant_id, min(a.sequence) - 1 FROM appended a WHERE ${isDeferred} AND ${hasNoBacklog} GROUP BY a.tenant_id
      ON CONFLICT DO NOTHING)
    INSERT INTO pending_deliveries (tenant_id, id, endpoint_id, sequence, event, due_at)
    SELECT a.tenant_id, ${newDeliveryId(sql`a.occurred_at`, sql`a.sequence`)}, e.id, a.sequence, a.event, '-infinity'
    FROM appended a CROSS JOIN LATERAL (
      SELECT e.id FROM webhook_endpoints e
      WHERE e.tenant_id = a.tenant_id AND e.state = 'enabled' AND e.events && ARRAY['*', a.event] OFFSET 0) AS e
    WHERE NOT ${isDeferred} AND ${hasNoBacklog}
  `;
}
