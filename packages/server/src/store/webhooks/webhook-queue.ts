import type { Queryable } from "../core/database.js";
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
const deliveriesMax = 1000;
/** A tenant with no more than this in a batch is never deferred: many small tenants must not put each other into a backlog. */
const fewDeliveries = 10;

/** A tenant that has enabled endpoints. */
export interface Subscriber {
  tenantId: string;
  endpoints: number;
  /** Whether deliveries of earlier events are still to be written. */
  hasBacklog: boolean;
}

/** Those of the tenants that have enabled endpoints. Served by webhook_endpoints_enabled and the primary key. */
export function readSubscribers(tx: Queryable, tenantIds: readonly string[]): Promise<Subscriber[]> {
  return tx.query<Subscriber>(sql`
    SELECT given.tenant_id AS "tenantId", enabled.endpoints,
      (SELECT count(*) > 0 FROM delivery_backlogs b WHERE b.tenant_id = given.tenant_id) AS "hasBacklog"
    FROM unnest(${[...tenantIds]}::uuid[]) AS given (tenant_id) CROSS JOIN LATERAL (
      SELECT count(*)::integer AS endpoints FROM webhook_endpoints e
      WHERE e.tenant_id = given.tenant_id AND e.state = 'enabled') AS enabled
    WHERE enabled.endpoints > 0
  `);
}

/** Whose deliveries are written with their events, and whose are written later because they are too many. */
export interface DeliveryPlan {
  direct: readonly string[];
  deferred: readonly string[];
}

/**
 * Deliveries are not written with a batch if there are too many: 500 events for 500 endpoints would be 250,000 rows, for which every other
 * tenant of the batch would wait. The smallest are written first, and few always. Those of a tenant that has a backlog join it.
 */
export function planDeliveries(
  subscribers: readonly Subscriber[],
  counts: ReadonlyMap<string, number>,
): DeliveryPlan {
  const direct: string[] = [];
  const deferred: string[] = [];
  let planned = 0;
  const sizes = subscribers
    .filter(({ hasBacklog }) => !hasBacklog)
    .map(({ tenantId, endpoints }) => ({ tenantId, deliveries: endpoints * (counts.get(tenantId) ?? 0) }))
    .sort((a, b) => a.deliveries - b.deliveries);
  for (const { tenantId, deliveries } of sizes) {
    planned += deliveries;
    (planned <= deliveriesMax || deliveries <= fewDeliveries ? direct : deferred).push(tenantId);
  }
  return { direct, deferred };
}

/**
 * Writes events together with their deliveries, in one statement: to every endpoint of the tenant that is enabled and wants
 * events of that kind. A tenant whose deliveries are deferred gets a backlog: they are written later, in the order of the log. The
 * caller holds the locks of the logs, so no backlog begins or ends meanwhile. Served by webhook_endpoints_enabled and the primary key.
 */
export function withDeliveries(insertEvents: Statement, { direct, deferred }: DeliveryPlan): Statement {
  return sql`
    WITH appended AS (${insertEvents} RETURNING tenant_id, sequence, event, occurred_at),
    begun AS (
      INSERT INTO delivery_backlogs (tenant_id, done_sequence)
      SELECT a.tenant_id, min(a.sequence) - 1 FROM appended a
      WHERE a.tenant_id = ANY (${[...deferred]}::uuid[]) GROUP BY a.tenant_id)
    INSERT INTO pending_deliveries (tenant_id, id, endpoint_id, sequence, event, due_at)
    SELECT a.tenant_id, ${newDeliveryId(sql`a.occurred_at`, sql`a.sequence`)}, e.id, a.sequence, a.event, '-infinity'
    FROM appended a CROSS JOIN LATERAL (
      SELECT e.id FROM webhook_endpoints e
      WHERE e.tenant_id = a.tenant_id AND e.state = 'enabled' AND e.events && ARRAY['*', a.event] OFFSET 0) AS e
    WHERE a.tenant_id = ANY (${[...direct]}::uuid[])
  `;
}
