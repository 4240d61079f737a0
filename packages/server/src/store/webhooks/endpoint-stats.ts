import { timeOfUuidV7 } from "@bursar/domain";
import {
  type BoundedCount,
  countedRowsMax,
  type EndpointStats,
  type EndpointStatsStore,
} from "../../app/webhooks/endpoint-stats.js";
import type { Database, Queryable } from "../core/database.js";
import { idRange, newestWith } from "../core/rows/bounded-page.js";
import { type Statement, sql } from "../core/sql.js";

const latenciesMax = 500;

type HourRow = { [K in keyof EndpointStats["hours"][number]]: K extends "start" ? Date : string };

/** How an endpoint is doing. Every part reads a bounded number of rows in the order of an index. */
export function createEndpointStatsStore(database: Database): EndpointStatsStore {
  return {
    readStats: async (tenantId, endpointId, from) => {
      const own = sql`tenant_id = ${tenantId} AND endpoint_id = ${endpointId}`;
      const [hours, latencies, pending, resendable] = await Promise.all([
        readHours(database, own, from),
        readLatencies(database, tenantId, endpointId),
        readPending(database, tenantId, endpointId),
        // Served by finished_deliveries_to_resend_by_endpoint.
        count(
          database,
          sql`
          SELECT FROM finished_deliveries WHERE ${own} AND state = 'exhausted' AND NOT resent LIMIT ${countedRowsMax}`,
        ),
      ]);
      return { hours, latencies, pending, resendable };
    },
    // Served by primary keys. An endpoint gets the kinds of events that it subscribes to.
    countReplay: async (tenantId, endpointId, fromSequence) => {
      const [row] = await database.query<{ count: number; looked: number; last: string | null }>(sql`
        SELECT count(*) FILTER (WHERE v.event = ANY (e.events) OR '*' = ANY (e.events))::integer AS count,
          count(*)::integer AS looked, max(v.sequence) AS last
        FROM (
          SELECT sequence, event FROM events WHERE tenant_id = ${tenantId} AND sequence >= ${fromSequence}
          ORDER BY sequence LIMIT ${countedRowsMax}) AS v
        CROSS JOIN (
          SELECT events FROM webhook_endpoints WHERE tenant_id = ${tenantId} AND id = ${endpointId} LIMIT 1) AS e
      `);
      return {
        count: row?.count ?? 0,
        isBound: row?.looked === countedRowsMax,
        lastSequence: row?.last == null ? undefined : Number(row.last),
      };
    },
  };
}

/** Served by the primary key. */
async function readHours(source: Queryable, own: Statement, from: Date): Promise<EndpointStats["hours"]> {
  const rows = await source.query<HourRow>(sql`
    SELECT start, attempts, delivered, exhausted, latency_ms AS "latencyMs", latency_ms_max AS "latencyMsMax"
    FROM webhook_hours WHERE ${own} AND start >= ${from} ORDER BY start
  `);
  return rows.map(({ start, ...row }) => ({
    start,
    attempts: Number(row.attempts),
    delivered: Number(row.delivered),
    exhausted: Number(row.exhausted),
    latencyMs: Number(row.latencyMs),
    latencyMsMax: Number(row.latencyMsMax),
  }));
}

/** Of the newest deliveries that are final. Served by finished_deliveries_by_endpoint. */
async function readLatencies(source: Queryable, tenantId: string, endpointId: string): Promise<number[]> {
  const newestOfEndpoint = newestWith(
    sql`endpoint_id`,
    sql`id`,
    endpointId,
    idRange({}, undefined),
    sql`${latenciesMax}`,
  );
  const rows = await source.query<{ latencyMs: number | null }>(sql`
    SELECT (attempts -> -1 ->> 'latencyMs')::float8 AS "latencyMs" FROM finished_deliveries
    WHERE tenant_id = ${tenantId} ${newestOfEndpoint}
  `);
  return rows.flatMap(({ latencyMs }) => (latencyMs === null ? [] : [Math.round(latencyMs)]));
}

/**
 * The oldest is served by pending_deliveries_by_endpoint, the first from this endpoint on in its order, and the next attempt by
 * pending_deliveries_queue.
 */
async function readPending(
  source: Queryable,
  tenantId: string,
  endpointId: string,
): Promise<EndpointStats["pending"]> {
  const own = sql`tenant_id = ${tenantId} AND endpoint_id = ${endpointId}`;
  const [row] = await source.query<{ oldest: string | null; next: Date | null }>(sql`
    SELECT (SELECT CASE WHEN endpoint_id = ${endpointId} THEN id END FROM pending_deliveries
       WHERE tenant_id = ${tenantId} AND endpoint_id >= ${endpointId} ORDER BY endpoint_id, id LIMIT 1) AS oldest,
      (SELECT due_at FROM pending_deliveries WHERE ${own} AND due_at > now() ORDER BY due_at, sequence LIMIT 1) AS next
  `);
  const waiting = await count(
    source,
    sql`SELECT FROM pending_deliveries WHERE ${own} LIMIT ${countedRowsMax}`,
  );
  return {
    ...waiting,
    oldestAt: row?.oldest == null ? undefined : new Date(timeOfUuidV7(row.oldest)),
    nextAttemptAt: row?.next instanceof Date ? row.next : undefined,
  };
}

async function count(source: Queryable, rows: Statement): Promise<BoundedCount> {
  const [row] = await source.query<{ count: number }>(
    sql`SELECT count(*)::integer AS count FROM (${rows}) AS counted`,
  );
  return { count: row?.count ?? 0, isBound: row?.count === countedRowsMax };
}
