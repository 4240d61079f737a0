import type { BacklogStore, WrittenDeliveries } from "../../app/webhooks/delivery-backlog.js";
import type { Database, Queryable, Tx } from "../core/database.js";
import { locateRows } from "../core/rows/locate-rows.js";
import { sql } from "../core/sql.js";
import { newDeliveryId } from "./webhook-queue.js";

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
    writeSome: (fromTenantId, deliveriesMax) =>
      database.transaction((tx) => writeSome(tx, fromTenantId, deliveriesMax)),
  };
}

const eventsMax = 500;
const tenantsMax = 200;

interface Backlog {
  tenantId: string;
  done: number;
  /** How many deliveries an event may have. */
  endpoints: number;
  /** No more events than this are waiting. */
  waiting: number;
}

/** How many of its events a tenant may have written. */
interface Share extends Backlog {
  limit: number;
}

/**
 * Writes the deliveries of the next events of tenants. Only one process at a time does so for a tenant. The logs are locked last, and only
 * to end backlogs: an event that is appended meanwhile would neither have its deliveries written nor be part of the backlog.
 */
async function writeSome(tx: Tx, fromTenantId: string, deliveriesMax: number): Promise<WrittenDeliveries> {
  const shares = shareOut(await claimBacklogs(tx, fromTenantId), deliveriesMax);
  if (shares.length === 0) return { tenantIds: [], lastTenantId: undefined };
  const written = await writeDeliveries(tx, shares);
  const served = shares.map(({ tenantId, done, limit }) => {
    const { last = done, events = 0 } = written.get(tenantId) ?? {};
    return { tenantId, done: last, isAtEnd: events < limit };
  });
  const ended = await findEnded(
    tx,
    served.filter(({ isAtEnd }) => isAtEnd),
  );
  recordDone(tx, served, ended);
  return {
    tenantIds: [...written].filter(([, { hasDeliveries }]) => hasDeliveries).map(([tenantId]) => tenantId),
    lastTenantId: shares.at(-1)?.tenantId,
  };
}

/** Served by primary keys and webhook_endpoints_enabled. */
async function claimBacklogs(tx: Queryable, fromTenantId: string): Promise<Backlog[]> {
  const rows = await tx.query<Omit<Backlog, "done"> & { done: string }>(sql`
    SELECT b.tenant_id AS "tenantId", b.done_sequence AS done, (
      SELECT count(*)::integer FROM webhook_endpoints e WHERE e.tenant_id = b.tenant_id AND e.state = 'enabled') + (
      SELECT count(*)::integer FROM past_subscriptions p
      WHERE p.tenant_id = b.tenant_id AND p.upto_sequence > b.done_sequence) AS endpoints, (
      SELECT least(s.sequence - b.done_sequence, ${eventsMax})::integer FROM event_sequences s
      WHERE s.tenant_id = b.tenant_id) AS waiting
    FROM delivery_backlogs b WHERE b.tenant_id >= ${fromTenantId}
    ORDER BY b.tenant_id LIMIT ${tenantsMax} FOR UPDATE SKIP LOCKED
  `);
  return rows.map((row) => ({ ...row, done: Number(row.done) }));
}

/** One event more than are waiting shows that there are no others. The last tenant gets what is left. */
function shareOut(backlogs: readonly Backlog[], deliveriesMax: number): Share[] {
  const shares: Share[] = [];
  let left = deliveriesMax;
  for (const backlog of backlogs) {
    const endpoints = Math.max(1, backlog.endpoints);
    const fitting = Math.floor(left / endpoints);
    if (fitting === 0 && shares.length > 0) break;
    const limit = Math.max(1, Math.min(fitting, backlog.waiting + 1));
    shares.push({ ...backlog, limit });
    left -= limit * endpoints;
  }
  return shares;
}

/** Events are a range of their primary key for each tenant, and endpoints of webhook_endpoints_enabled. */
async function writeDeliveries(tx: Queryable, shares: readonly Share[]) {
  const rows = await tx.query<{ tenantId: string; last: string; events: number; hasDeliveries: boolean }>(sql`
    WITH v AS MATERIALIZED (
      SELECT given.tenant_id, v.sequence, v.event, v.occurred_at
      FROM unnest(
        ${shares.map(({ tenantId }) => tenantId)}::uuid[], ${shares.map(({ done }) => done)}::bigint[],
        ${shares.map(({ limit }) => limit)}::integer[]) AS given (tenant_id, done, events_max)
      CROSS JOIN LATERAL (
        SELECT sequence, event, occurred_at FROM events v
        WHERE v.tenant_id = given.tenant_id AND v.sequence > given.done ORDER BY v.sequence LIMIT given.events_max) AS v
    ), written AS (
      INSERT INTO pending_deliveries (tenant_id, id, endpoint_id, sequence, event, due_at)
      SELECT v.tenant_id, ${newDeliveryId(sql`v.occurred_at`, sql`v.sequence`)}, subscribed.id, v.sequence, v.event, '-infinity'
      FROM v CROSS JOIN LATERAL (
        SELECT e.id FROM webhook_endpoints e
        WHERE e.tenant_id = v.tenant_id AND e.state = 'enabled' AND e.subscribed_after < v.sequence
          AND e.events && ARRAY['*', v.event]
        UNION ALL
        SELECT p.endpoint_id FROM past_subscriptions p
        WHERE p.tenant_id = v.tenant_id AND p.upto_sequence >= v.sequence AND p.after_sequence < v.sequence
          AND p.events && ARRAY['*', v.event]
      ) AS subscribed
      RETURNING tenant_id
    )
    SELECT tenant_id AS "tenantId", max(sequence) AS last, count(*)::integer AS events,
      tenant_id = ANY (ARRAY(SELECT DISTINCT tenant_id FROM written)) AS "hasDeliveries"
    FROM v GROUP BY tenant_id
  `);
  return new Map(rows.map(({ tenantId, last, ...row }) => [tenantId, { ...row, last: Number(last) }]));
}

interface Served {
  tenantId: string;
  done: number;
}

/** Locks the logs, in the order of tenants as everywhere, and finds those without further events. Served by primary keys. */
async function findEnded(tx: Queryable, served: readonly Served[]): Promise<ReadonlySet<string>> {
  if (served.length === 0) return new Set();
  const tenantIds = served.map(({ tenantId }) => tenantId);
  const lock = tx.query(sql`
    SELECT FROM unnest(${tenantIds}::uuid[]) AS given (tenant_id) CROSS JOIN LATERAL (
      SELECT FROM event_sequences s WHERE s.tenant_id = given.tenant_id FOR UPDATE) AS locked
  `);
  // A statement of its own, so that it sees what was appended while the locks were waited for.
  const read = tx.query<{ tenantId: string }>(sql`
    SELECT given.tenant_id AS "tenantId"
    FROM unnest(${tenantIds}::uuid[], ${served.map(({ done }) => done)}::bigint[]) AS given (tenant_id, done)
    WHERE (SELECT count(*) FROM (
      SELECT FROM events v WHERE v.tenant_id = given.tenant_id AND v.sequence > given.done
      ORDER BY v.sequence LIMIT 1) AS next) = 0
  `);
  const [, ended] = await Promise.all([lock, read]);
  return new Set(ended.map(({ tenantId }) => tenantId));
}

/** Served by primary keys. */
function recordDone(tx: Tx, served: readonly Served[], ended: ReadonlySet<string>): void {
  const given = sql`unnest(
    ${served.map(({ tenantId }) => tenantId)}::uuid[], ${served.map(({ done }) => done)}::bigint[]) AS given (tenant_id, done)`;
  const key = sql`r.tenant_id = given.tenant_id`;
  tx.send(sql`
    UPDATE delivery_backlogs b SET done_sequence = found.done
    FROM ${locateRows(sql`delivery_backlogs`, given, key)} AS found WHERE b.ctid = found.place
  `);
  if (ended.size > 0)
    tx.send(sql`DELETE FROM delivery_backlogs WHERE tenant_id = ANY (${[...ended]}::uuid[])`);
  const past = sql`SELECT r.ctid FROM ${given} CROSS JOIN LATERAL (
    SELECT r.ctid FROM past_subscriptions r WHERE ${key} AND r.upto_sequence <= given.done) AS r`;
  tx.send(sql`DELETE FROM past_subscriptions WHERE ctid = ANY (ARRAY(${past}))`);
}
