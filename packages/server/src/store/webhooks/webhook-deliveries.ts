import type { Delivery, DeliveryFilter, DeliveryStore } from "../../app/webhooks/delivery.js";
import type { Database } from "../core/database.js";
import {
  type BoundedPage,
  idRange,
  newest,
  newestWith,
  selectBoundedPage,
  toListed,
  whereAll,
} from "../core/rows/bounded-page.js";
import { type Statement, sql } from "../core/sql.js";

interface DeliveryRow extends Omit<Delivery, "sequence"> {
  sequence: string;
}

/** Deliveries as their owner sees them: what is on its way and what is done, as one list. */
export function createDeliveryStore(database: Database): DeliveryStore {
  return {
    // Served by the primary keys.
    readDelivery: async (tenantId, id) => {
      const own = sql`WHERE d.tenant_id = ${tenantId} AND d.id = ${id}`;
      const [row] = await database.query<DeliveryRow>(
        sql`${selectPending} ${own} UNION ALL ${selectFinished} ${own}`,
      );
      return row && toDelivery(row);
    },
    countPending: async (tenantId, endpointId, max) => {
      const waiting =
        endpointId === undefined ? waitingOfAll(tenantId, max) : waitingOf(tenantId, endpointId);
      const [row] = await database.query<{ count: number }>(sql`
        SELECT count(*)::integer AS count FROM (${waiting} LIMIT ${max}) AS waiting
      `);
      return row?.count ?? 0;
    },
    listDeliveries: async (tenantId, filter, limit, beforeId) => {
      const page = selectBoundedPage({ ...boundedList(tenantId, filter, beforeId), limit });
      const own = sql`WHERE d.tenant_id = ${tenantId} AND d.id = page.id`;
      // OFFSET 0 keeps the lookups apart: as a join, PostgreSQL may read both tables as a whole.
      const rows = await database.query<DeliveryRow & { isEnd: boolean }>(sql`
        SELECT found.*, page."isEnd" FROM (${page}) page
        CROSS JOIN LATERAL (${selectPending} ${own} UNION ALL ${selectFinished} ${own} OFFSET 0) AS found
        ORDER BY page.id DESC
      `);
      return toListed(rows, toDelivery);
    },
  };
}

/** Served by pending_deliveries_by_endpoint. */
function waitingOf(tenantId: string, endpointId: string): Statement {
  return sql`SELECT FROM pending_deliveries p WHERE p.tenant_id = ${tenantId} AND p.endpoint_id = ${endpointId}`;
}

/**
 * What waits for an endpoint that is disabled, or whose client is, is not on its way: it says nothing about the others. Served by
 * pending_deliveries_by_endpoint, one range for each endpoint.
 */
function waitingOfAll(tenantId: string, max: number): Statement {
  return sql`
    SELECT FROM webhook_endpoints e
    CROSS JOIN LATERAL (
      SELECT FROM pending_deliveries p WHERE p.tenant_id = ${tenantId} AND p.endpoint_id = e.id LIMIT ${max}) AS own
    WHERE e.tenant_id = ${tenantId} AND e.state = 'enabled'
      AND (e.client_id IS NULL OR EXISTS (SELECT FROM clients c WHERE c.id = e.client_id AND c.state = 'active'))
  `;
}

/**
 * The newest of both tables, or of the one that the state names, lead. Each is read by the index of the narrowest condition: a sequence
 * has at most a few deliveries for each endpoint, and most events are of one kind. The others are looked at row by row, for a bounded
 * number of rows.
 */
function boundedList(
  tenantId: string,
  filter: DeliveryFilter,
  beforeId: string | undefined,
): Pick<BoundedPage, "lead" | "rest"> {
  const { endpointId, event, sequence, state } = filter;
  const failed = state === "exhausted" ? sql`AND d.state = 'exhausted'` : sql``;
  const { end, isEvent } = leading(filter, beforeId);
  const from = (table: Statement, shown: Statement, more: Statement) => (max: Statement) =>
    sql`
    (SELECT d.id, d.endpoint_id, d.event, ${shown} AS state FROM ${table} d WHERE d.tenant_id = ${tenantId} ${more} ${end(max)})`;
  const pending = from(sql`pending_deliveries`, sql`'pending'`, sql``);
  const finished = from(sql`finished_deliveries`, sql`d.state`, failed);
  const both = (max: Statement) =>
    sql`SELECT d.* FROM (${pending(max)} UNION ALL ${finished(max)}) d ORDER BY d.id DESC LIMIT ${max}`;
  return {
    lead: state === "pending" ? pending : state === undefined ? both : finished,
    rest: whereAll([
      ...(endpointId !== undefined && sequence !== undefined ? [sql`s.endpoint_id = ${endpointId}`] : []),
      ...(event !== undefined && !isEvent ? [sql`s.event = ${event}`] : []),
      ...(state === "delivered" ? [sql`s.state = 'delivered'`] : []),
    ]),
  };
}

/** The condition whose index is read, and whether it is that of the event. */
function leading(
  filter: DeliveryFilter,
  beforeId: string | undefined,
): { end: (max: Statement) => Statement; isEvent: boolean } {
  const { sequence, endpointId, event, state } = filter;
  const range = idRange(filter, beforeId);
  const id = sql`d.id`;
  if (sequence !== undefined)
    return { end: (max) => sql`AND d.sequence = ${sequence} ${newest(id, range, max)}`, isEvent: false };
  if (endpointId !== undefined)
    return {
      end: (max) => newestOfEndpoint(endpointId, newestWith(sql`d.endpoint_id`, id, endpointId, range, max)),
      isEvent: false,
    };
  // The same condition as in the definitions of the partial indexes, so that they can serve it.
  if (event !== undefined && event !== "transaction.updated" && state !== "exhausted")
    return {
      end: (max) =>
        sql`AND d.event <> 'transaction.updated' ${newestWith(sql`d.event`, id, event, range, max)}`,
      isEvent: true,
    };
  return { end: (max) => newest(id, range, max), isEvent: false };
}

/**
 * The bounds on the endpoint alone add nothing to those of its rows, but PostgreSQL derives them for pending_deliveries_queue, which does
 * not have the order, and then takes that index for the cheaper one: it would read, and sort, everything that waits for the endpoint.
 */
function newestOfEndpoint(endpointId: string, end: Statement): Statement {
  return sql`AND d.endpoint_id >= ${endpointId} AND d.endpoint_id <= ${endpointId} ${end}`;
}

/** A time in the past is no plan: the attempt is due, or has begun. */
const selectPending = sql`
  SELECT d.id, d.endpoint_id AS "endpointId", d.sequence, d.event, 'pending' AS state, d.repeats, d.attempts,
    CASE WHEN d.due_at > now() THEN d.due_at END AS "nextAttemptAt", NULL::timestamptz AS "finishedAt"
  FROM pending_deliveries d
`;

const selectFinished = sql`
  SELECT d.id, d.endpoint_id AS "endpointId", d.sequence, d.event, d.state, d.repeats, d.attempts,
    NULL::timestamptz AS "nextAttemptAt", d.finished_at AS "finishedAt"
  FROM finished_deliveries d
`;

function toDelivery({ sequence, ...row }: DeliveryRow): Delivery {
  return { ...row, sequence: Number(sequence) };
}
