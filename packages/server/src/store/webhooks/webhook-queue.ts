import { type Statement, sql } from "../core/sql.js";

/**
 * The id of a new delivery, a UUID of version 7: the time, then the low bits of the sequence, so that the deliveries of one
 * millisecond stay in order, then random bits. Made here because a whole batch of deliveries is one statement.
 */
export function newDeliveryId(time: Statement, sequence: Statement): Statement {
  return sql`(lpad(to_hex((extract(epoch FROM ${time}) * 1000)::bigint), 12, '0') || '7'
    || lpad(to_hex(${sequence} & 4095), 3, '0') || right(gen_random_uuid()::text, 17))::uuid`;
}

/**
 * Writes events together with their deliveries, in one statement: to every endpoint of the tenant that is enabled and wants
 * events of that kind. Served by webhook_endpoints_enabled.
 */
export function withDeliveries(insertEvents: Statement): Statement {
  return sql`
    WITH appended AS (${insertEvents} RETURNING tenant_id, sequence, event, occurred_at)
    INSERT INTO pending_deliveries (tenant_id, id, endpoint_id, sequence, event, due_at)
    SELECT a.tenant_id, ${newDeliveryId(sql`a.occurred_at`, sql`a.sequence`)}, e.id, a.sequence, a.event, '-infinity'
    FROM appended a
    JOIN webhook_endpoints e ON e.tenant_id = a.tenant_id AND e.state = 'enabled' AND e.events && ARRAY['*', a.event]
  `;
}
