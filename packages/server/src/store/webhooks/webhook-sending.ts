import type {
  AttemptResult,
  DueDelivery,
  DueWish,
  HealthChange,
  Lease,
  LeaseKey,
  SendingStore,
} from "../../app/webhooks/sending.js";
import type { Database, Queryable } from "../core/database.js";
import { type Statement, sql } from "../core/sql.js";
import { type EndpointRow, endpointColumns, toEndpoint } from "./webhook-endpoints.js";

type LeaseRow = EndpointRow & { fence: string };

interface DueRow extends Omit<DueDelivery, "tenantId" | "endpointId" | "sequence"> {
  /** The place of the wish that it answers, counted from 1: two numbers less to send and to read than whose it is. */
  wish: string;
  sequence: string;
}

/**
 * The senders' side of the queue. A lease is on an endpoint and not on each delivery: a delivery is then written twice in its
 * life, when it is caused and when it is done, and all processes together keep an endpoint's order and concurrency.
 */
export function createSendingStore(database: Database): SendingStore {
  return {
    leaseEndpoints: async ({ holder, tenantIds, now, leaseMs, limit }) =>
      (await database.query<LeaseRow>(leaseStatement(holder, tenantIds, now, leaseMs, limit))).map(toLease),
    renewLeases: async (leases, leaseMs) =>
      (await database.query<LeaseRow>(renewStatement(leases, leaseMs))).map(toLease),
    // Served by the primary key.
    releaseLeases: async (leases) => {
      await database.query(sql`
        UPDATE webhook_leases l SET holder = NULL, expires_at = '-infinity' FROM ${keysOf(leases)}
        WHERE l.tenant_id = own.tenant_id AND l.endpoint_id = own.endpoint_id AND l.fence = own.fence
      `);
    },
    readDue: async (wanted, now) => {
      const rows = await database.query<DueRow>(sql`
        SELECT wanted.wish, due.id, due.sequence, due.attempts, due.is_first AS "isFirst"
        FROM unnest(
          ${wanted.map((w) => w.tenantId)}::uuid[], ${wanted.map((w) => w.endpointId)}::uuid[],
          ${wanted.map((w) => w.afterSequence.toString())}::bigint[], ${wanted.map((w) => w.firstAttemptsMax)}::integer[],
          ${wanted.map((w) => w.furtherAttemptsMax)}::integer[]
        ) WITH ORDINALITY AS wanted (tenant_id, endpoint_id, after_sequence, first_max, further_max, wish)
        CROSS JOIN LATERAL (${dueOfEndpoint(now)}) AS due
      `);
      return rows.map((row) => toDue(row, wanted[Number(row.wish) - 1] as DueWish));
    },
    recordResults: (results, health) =>
      database.transaction(async (tx) => {
        if (results.length > 0) await writeResults(tx, results);
        if (health.length > 0) await writeHealth(tx, health);
      }),
  };
}

/**
 * One probe of pending_deliveries_queue for each enabled endpoint, so that an endpoint with a million waiting is no slower to
 * pass than one with none. Leases that another process takes at this moment are passed over.
 */
function leaseStatement(
  holder: string,
  tenantIds: readonly string[] | "any",
  now: Date,
  leaseMs: number,
  limit: number,
): Statement {
  return sql`
    WITH free AS (
      SELECT l.tenant_id, l.endpoint_id
      FROM webhook_endpoints e JOIN webhook_leases l ON l.tenant_id = e.tenant_id AND l.endpoint_id = e.id
      WHERE e.state = 'enabled' ${tenantIds === "any" ? sql`` : sql`AND e.tenant_id = ANY(${[...tenantIds]}::uuid[])`}
        AND l.expires_at <= now() AND EXISTS (
          SELECT FROM pending_deliveries p
          WHERE p.tenant_id = e.tenant_id AND p.endpoint_id = e.id AND p.due_at <= ${now})
      LIMIT ${limit} FOR UPDATE OF l SKIP LOCKED
    )
    UPDATE webhook_leases l
    SET holder = ${holder}, fence = l.fence + 1, expires_at = now() + ${leaseMs} * interval '1 millisecond'
    FROM free JOIN webhook_endpoints e ON e.tenant_id = free.tenant_id AND e.id = free.endpoint_id
    WHERE l.tenant_id = free.tenant_id AND l.endpoint_id = free.endpoint_id
    RETURNING l.fence, ${endpointColumns}
  `;
}

/** A lease that has run out may be renewed as long as nobody else has taken it. Served by the primary keys. */
function renewStatement(leases: readonly LeaseKey[], leaseMs: number): Statement {
  return sql`
    UPDATE webhook_leases l SET expires_at = now() + ${leaseMs} * interval '1 millisecond'
    FROM ${keysOf(leases)} JOIN webhook_endpoints e ON e.tenant_id = own.tenant_id AND e.id = own.endpoint_id
    WHERE l.tenant_id = own.tenant_id AND l.endpoint_id = own.endpoint_id AND l.fence = own.fence AND e.state = 'enabled'
    RETURNING l.fence, ${endpointColumns}
  `;
}

function keysOf(leases: readonly LeaseKey[]): Statement {
  return sql`unnest(
    ${leases.map((lease) => lease.tenantId)}::uuid[], ${leases.map((lease) => lease.endpointId)}::uuid[],
    ${leases.map((lease) => lease.fence)}::bigint[]
  ) AS own (tenant_id, endpoint_id, fence)`;
}

/**
 * Both halves are ranges of pending_deliveries_queue: the first attempts after the last that was taken, which passes over the
 * dead entries of all that were done before, and the further ones whose time has come.
 */
function dueOfEndpoint(now: Date): Statement {
  return sql`
    (SELECT p.id, p.sequence, jsonb_array_length(p.attempts) AS attempts, true AS is_first
     FROM pending_deliveries p
     WHERE p.tenant_id = wanted.tenant_id AND p.endpoint_id = wanted.endpoint_id AND p.due_at = '-infinity'
       AND p.sequence > wanted.after_sequence
     ORDER BY p.sequence LIMIT wanted.first_max)
    UNION ALL
    (SELECT p.id, p.sequence, jsonb_array_length(p.attempts), false
     FROM pending_deliveries p
     WHERE p.tenant_id = wanted.tenant_id AND p.endpoint_id = wanted.endpoint_id AND p.due_at > '-infinity'
       AND p.due_at <= ${now}
     ORDER BY p.due_at, p.sequence LIMIT wanted.further_max)
  `;
}

/**
 * A delivery that is done moves to the other table; a row that is gone already moves nothing, so that none is there twice. Results
 * name their lease by its place in a list, and times are numbers: with the lease's keys and a text for the time in each, a result
 * took PostgreSQL a fifth longer.
 */
async function writeResults(tx: Queryable, results: readonly AttemptResult[]): Promise<void> {
  const leases = [...new Set(results.map(({ lease }) => lease))];
  const places = new Map(leases.map((lease, index) => [lease, index + 1]));
  await tx.query(sql`
    WITH own AS (
      -- The tenants of the leases, each in its place; none where a lease does not hold any more.
      SELECT array_agg(l.tenant_id ORDER BY own.place) AS tenants
      FROM unnest(
        ${leases.map((lease) => lease.tenantId)}::uuid[], ${leases.map((lease) => lease.endpointId)}::uuid[],
        ${leases.map((lease) => lease.fence)}::bigint[]
      ) WITH ORDINALITY AS own (tenant_id, endpoint_id, fence, place)
      LEFT JOIN webhook_leases l ON l.tenant_id = own.tenant_id AND l.endpoint_id = own.endpoint_id AND l.fence = own.fence
    ), held AS (
      SELECT own.tenants[result.place] AS tenant_id, result.id, result.attempt, result.state, to_timestamp(result.at) AS at
      FROM own CROSS JOIN unnest(
        ${results.map(({ lease }) => places.get(lease))}::integer[], ${results.map((r) => r.deliveryId)}::uuid[],
        ${results.map((r) => JSON.stringify(r.attempt))}::jsonb[], ${results.map((r) => r.next.state)}::text[],
        ${results.map(({ next }) => secondsOf(next.state === "pending" ? next.dueAt : next.at))}::double precision[]
      ) AS result (place, id, attempt, state, at)
      WHERE own.tenants[result.place] IS NOT NULL
    ), waiting AS (
      UPDATE pending_deliveries p SET due_at = held.at, attempts = p.attempts || held.attempt
      FROM held WHERE p.tenant_id = held.tenant_id AND p.id = held.id AND held.state = 'pending'
    ), done AS (
      DELETE FROM pending_deliveries p USING held
      WHERE p.tenant_id = held.tenant_id AND p.id = held.id AND held.state <> 'pending'
      RETURNING p.tenant_id, p.id, p.endpoint_id, p.sequence, p.event, p.repeats, held.state, held.at,
        p.attempts || held.attempt AS attempts
    )
    INSERT INTO finished_deliveries (tenant_id, id, endpoint_id, sequence, event, repeats, state, finished_at, attempts)
    SELECT * FROM done
  `);
}

/** As PostgreSQL counts them. A number of this size is exact to less than a microsecond. */
function secondsOf(time: Date): number {
  return time.getTime() / 1000;
}

async function writeHealth(tx: Queryable, health: readonly HealthChange[]): Promise<void> {
  // Rows are locked in the order of their keys, so that two senders never wait for each other.
  await tx.query(sql`
    WITH changed AS (
      SELECT e.tenant_id, e.id, health.failing_since
      FROM unnest(
        ${health.map((h) => h.tenantId)}::uuid[], ${health.map((h) => h.endpointId)}::uuid[],
        ${health.map((h) => h.failingSince)}::timestamptz[]
      ) AS health (tenant_id, id, failing_since)
      JOIN webhook_endpoints e ON e.tenant_id = health.tenant_id AND e.id = health.id
      ORDER BY e.tenant_id, e.id FOR UPDATE OF e
    )
    UPDATE webhook_endpoints e SET failing_since = changed.failing_since FROM changed
    WHERE e.tenant_id = changed.tenant_id AND e.id = changed.id
  `);
}

function toLease({ fence, ...row }: LeaseRow): Lease {
  const endpoint = toEndpoint(row);
  return { tenantId: endpoint.tenantId, endpointId: endpoint.id, fence, endpoint };
}

function toDue({ id, sequence, attempts, isFirst }: DueRow, { tenantId, endpointId }: DueWish): DueDelivery {
  return { tenantId, endpointId, id, sequence: BigInt(sequence), attempts, isFirst };
}
