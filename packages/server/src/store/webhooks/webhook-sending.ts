import type { IntegrityKeys } from "../../app/access/integrity-keys.js";
import { isServed, type WebhookEndpoint } from "../../app/webhooks/endpoint.js";
import {
  type AttemptResult,
  type DueDelivery,
  type DueRequest,
  type EndpointLease,
  endpointName,
  type HealthChange,
  type SendingStore,
  type WantedEndpoints,
} from "../../app/webhooks/sending.js";
import type { Lease } from "../../runtime/loops/lease.js";
import { type Database, type Queryable, requireKeys } from "../core/database.js";
import { type FailureTable, recordFailure } from "../core/rows/failures.js";
import {
  acquireLeases,
  type LeaseTable,
  locateLeases,
  matchLeases,
  releaseLeases,
  renewLeases,
} from "../core/rows/leases.js";
import { hasKey, joinByKey } from "../core/rows/locate-rows.js";
import { type Statement, sql } from "../core/sql.js";
import { type EndpointRow, endpointColumns, toEndpoint } from "./webhook-endpoints.js";
import { countHours } from "./webhook-hours.js";

interface DueRow extends Omit<DueDelivery, "tenantId" | "endpointId" | "sequence"> {
  /** The place of the request that it answers, counted from 1: two columns less to send and to read than the endpoint's key. */
  place: string;
  sequence: string;
}

const endpointLeases: LeaseTable<Pick<EndpointLease, "tenantId" | "endpointId">> = {
  table: sql`webhook_leases`,
  key: [
    { column: sql`tenant_id`, type: sql`uuid`, of: ({ tenantId }) => tenantId },
    { column: sql`endpoint_id`, type: sql`uuid`, of: ({ endpointId }) => endpointId },
  ],
  // There can be one for each of many endpoints.
  isWrittenByOthers: false,
};

/** What the service itself could not send or record. A list of attempts and the due time are columns of a delivery anyway. */
export const deliveryFailures: FailureTable = {
  kind: "delivery",
  table: sql`pending_deliveries`,
  attempts: sql`failures`,
  retryAt: sql`due_at`,
};

/**
 * The senders' side of the queue. A lease is on an endpoint and not on each delivery: a delivery is then written twice in its life, when it
 * is caused and when it is done, and all processes together keep an endpoint's order and concurrency.
 */
export function createSendingStore(
  database: Database,
  onTampered: (endpoint: WebhookEndpoint) => void,
): SendingStore {
  /**
   * Leases with their endpoints; those of endpoints that are not enabled are left out, and released by their holder when it notices. Endpoints
   * that were tampered with are reported.
   */
  const withEndpoints = async (leases: Statement) => {
    const rows = await database.query<EndpointRow & Lease>(sql`
      WITH held AS (${leases})
      SELECT held.holder, held.fence, ${endpointColumns}
      FROM held CROSS JOIN LATERAL (
        SELECT * FROM webhook_endpoints e
        WHERE ${hasKey(sql`e`, sql`held`, sql`held.endpoint_id`)} AND e.state = 'enabled' LIMIT 1) AS e
    `);
    const leased = rows.map((row) => toLease(requireKeys(database), row));
    for (const { endpoint } of leased) if (endpoint.isTampered === true) onTampered(endpoint);
    return leased;
  };
  return {
    leases: {
      acquire: ({ limit, ...wanted }, holder, leaseMs) => {
        const candidates = { ...endpointsWithDue(wanted), limit };
        return withEndpoints(acquireLeases(endpointLeases, candidates, holder, leaseMs));
      },
      renew: async (leases, leaseMs) => {
        const renewed = await withEndpoints(renewLeases(endpointLeases, leases, leaseMs));
        return renewed.filter(({ endpoint }) => isServed(endpoint));
      },
      release: async (leases, restMs) =>
        void (await database.query(releaseLeases(endpointLeases, leases, restMs))),
    },
    readDue: async (wanted, now) => {
      const rows = await database.query<DueRow>(sql`
        SELECT wanted.place, due.id, due.sequence, due.attempts, due.is_first AS "isFirst"
        FROM unnest(
          ${wanted.map((w) => w.tenantId)}::uuid[], ${wanted.map((w) => w.endpointId)}::uuid[],
          ${wanted.map((w) => w.afterSequence)}::bigint[], ${wanted.map((w) => w.firstAttemptsMax)}::integer[],
          ${wanted.map((w) => w.furtherAttemptsMax)}::integer[]
        ) WITH ORDINALITY AS wanted (tenant_id, endpoint_id, after_sequence, first_max, further_max, place)
        CROSS JOIN LATERAL (${dueOfEndpoint(now)}) AS due
      `);
      return rows.map((row) => toDue(row, wanted[Number(row.place) - 1] as DueRequest));
    },
    recordResults: (results, health) =>
      database.transaction(async (tx) => {
        if (results.length > 0) await writeResults(tx, results);
        if (health.length > 0) await writeHealth(tx, health);
      }),
    recordFailure: (delivery, error, now) => recordFailure(database, deliveryFailures, delivery, error, now),
  };
}

/**
 * One probe of pending_deliveries_queue for each enabled endpoint, so that an endpoint with a million waiting is no slower to skip than one
 * with none. The endpoints are ordered before they are probed: then no more are probed than it takes to find enough.
 */
function endpointsWithDue({ tenantIds, areFailing, dueBy, after }: Omit<WantedEndpoints, "limit">) {
  const ofTenants = sql`AND e.tenant_id = ANY(${tenantIds === "any" ? [] : [...tenantIds]}::uuid[])`;
  const inOrder = sql`ORDER BY e.tenant_id, e.id`;
  const from =
    after === undefined ? sql`` : sql`AND (e.tenant_id, e.id) > (${after.tenantId}, ${after.endpointId})`;
  return {
    keys: sql`
      SELECT e.tenant_id, e.id AS endpoint_id FROM (
        SELECT e.tenant_id, e.id FROM webhook_endpoints e
        WHERE e.state = 'enabled' AND (e.failing_since IS NOT NULL) = ${areFailing}::boolean
          ${tenantIds === "any" ? sql`${from} ${inOrder}` : ofTenants} OFFSET 0) AS e
      WHERE (
        SELECT p.due_at <= ${dueBy} FROM pending_deliveries p
        WHERE p.tenant_id = e.tenant_id AND p.endpoint_id = e.id ORDER BY p.due_at, p.sequence LIMIT 1) OFFSET 0`,
  };
}

/**
 * Both halves are ranges of pending_deliveries_queue: the first attempts after the last that was taken, which skips the dead index entries
 * of all that were done before, and the further ones whose time has come. No other index has the order of either.
 */
function dueOfEndpoint(now: Date): Statement {
  return sql`
    (SELECT p.id, p.sequence, jsonb_array_length(p.attempts) AS attempts, true AS is_first
     FROM pending_deliveries p
     WHERE p.tenant_id = wanted.tenant_id AND p.endpoint_id = wanted.endpoint_id AND p.due_at <= '-infinity'
       AND p.sequence > wanted.after_sequence
     ORDER BY p.due_at, p.sequence LIMIT wanted.first_max)
    UNION ALL
    (SELECT p.id, p.sequence, jsonb_array_length(p.attempts), false
     FROM pending_deliveries p
     WHERE p.tenant_id = wanted.tenant_id AND p.endpoint_id = wanted.endpoint_id AND p.due_at > '-infinity'
       AND p.due_at <= ${now}
     ORDER BY p.due_at, p.sequence LIMIT wanted.further_max)
  `;
}

/**
 * A delivery that is done moves to the other table; a row that was moved already moves nothing, so that none exists twice. Results name their
 * lease by its place in a list, and times are numbers: with the lease's keys and a string for the time in each, a result took PostgreSQL a
 * fifth longer.
 */
async function writeResults(tx: Queryable, results: readonly AttemptResult[]): Promise<void> {
  const leases = [...new Set(results.map(({ lease }) => lease))];
  const places = new Map(leases.map((lease, index) => [lease, index + 1]));
  await tx.query(sql`
    WITH own AS (
      -- The tenants of the leases, each in its place; NULL if a lease was lost.
      SELECT array_agg(l.tenant_id ORDER BY own.position) AS tenants
      FROM ${locateLeases(endpointLeases, leases)} LEFT JOIN webhook_leases l ON ${matchLeases()}
    ), held AS (
      SELECT own.tenants[result.lease] AS tenant_id, result.id, result.attempt, result.state, to_timestamp(result.at) AS at
      FROM own CROSS JOIN unnest(
        ${results.map(({ lease }) => places.get(lease))}::integer[], ${results.map((r) => r.deliveryId)}::uuid[],
        ${results.map((r) => JSON.stringify(r.attempt))}::jsonb[], ${results.map((r) => r.next.state)}::text[],
        ${results.map(({ next }) => secondsOf(next.state === "pending" ? next.dueAt : next.at))}::double precision[]
      ) AS result (lease, id, attempt, state, at)
      WHERE own.tenants[result.lease] IS NOT NULL
    ), located AS MATERIALIZED (
      SELECT given.*, p.place FROM held AS given
      ${joinByKey(sql`(SELECT *, ctid AS place FROM pending_deliveries)`, sql`p`, sql`given`)}
    ), waiting AS (
      UPDATE pending_deliveries p SET due_at = held.at, attempts = p.attempts || held.attempt, failures = 0, last_error = NULL
      FROM located AS held WHERE p.ctid = held.place AND held.state = 'pending'
    ), done AS (
      DELETE FROM pending_deliveries p USING located AS held
      WHERE p.ctid = held.place AND held.state <> 'pending'
      RETURNING p.tenant_id, p.id, p.endpoint_id, p.sequence, p.event, p.repeats, held.state, held.at,
        p.attempts || held.attempt AS attempts
    ), counted AS (${countHours(results, places)}
    )
    INSERT INTO finished_deliveries (tenant_id, id, endpoint_id, sequence, event, repeats, state, finished_at, attempts)
    SELECT * FROM done
  `);
}

/** Seconds since 1970, as PostgreSQL counts them. A number of this size is exact to less than a microsecond. */
function secondsOf(time: Date): number {
  return time.getTime() / 1000;
}

async function writeHealth(tx: Queryable, health: readonly HealthChange[]): Promise<void> {
  // Rows are locked in the order of their keys, so that two senders never wait for each other.
  const inOrder = health.toSorted((a, b) => (endpointName(a) < endpointName(b) ? -1 : 1));
  await tx.query(sql`
    WITH changed AS MATERIALIZED (
      SELECT e.place, health.failing_since
      FROM unnest(
        ${inOrder.map((h) => h.tenantId)}::uuid[], ${inOrder.map((h) => h.endpointId)}::uuid[],
        ${inOrder.map((h) => h.failingSince)}::timestamptz[]
      ) AS health (tenant_id, id, failing_since)
      CROSS JOIN LATERAL (SELECT e.ctid AS place FROM webhook_endpoints e WHERE ${hasKey(sql`e`, sql`health`)} FOR UPDATE) AS e
    )
    UPDATE webhook_endpoints e SET failing_since = changed.failing_since FROM changed WHERE e.ctid = changed.place
  `);
}

function toLease(keys: IntegrityKeys, { holder, fence, ...row }: EndpointRow & Lease): EndpointLease {
  const endpoint = toEndpoint(keys, row);
  return { tenantId: endpoint.tenantId, endpointId: endpoint.id, holder, fence, endpoint };
}

function toDue(
  { id, sequence, attempts, isFirst }: DueRow,
  { tenantId, endpointId }: DueRequest,
): DueDelivery {
  return { tenantId, endpointId, id, sequence: Number(sequence), attempts, isFirst };
}
