import type { Delivery, DeliveryFilter, DeliveryStore } from "../../app/webhooks/delivery.js";
import type { Database } from "../core/database.js";
import { idAt } from "../core/id-at.js";
import { type Statement, sql } from "../core/sql.js";

interface DeliveryRow extends Omit<Delivery, "sequence" | "nextAttemptAt"> {
  sequence: string;
  /** `-infinity` is no date, and comes as a number. */
  dueAt: Date | number | null;
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
    listDeliveries: async (tenantId, filter, limit, beforeId) => {
      const rows = await database.query<DeliveryRow>(sql`
        SELECT * FROM (${parts(tenantId, filter, limit, beforeId)}) AS found ORDER BY id DESC LIMIT ${limit}
      `);
      return rows.map(toDelivery);
    },
  };
}

/**
 * A page of each table that the filter leaves; the newest of both are the page. Each filter is served by an index of both tables,
 * newest first; which one leads is PostgreSQL's choice.
 */
function parts(
  tenantId: string,
  filter: DeliveryFilter,
  limit: number,
  beforeId: string | undefined,
): Statement {
  const where = conditions(tenantId, filter, beforeId);
  const page = (select: Statement, more = sql``) =>
    sql`(${select} ${where} ${more} ORDER BY d.id DESC LIMIT ${limit})`;
  switch (filter.state) {
    case "pending":
      return page(selectPending);
    case undefined:
      return sql`${page(selectPending)} UNION ALL ${page(selectFinished)}`;
    default:
      return page(
        selectFinished,
        filter.state === "exhausted" ? sql`AND d.state = 'exhausted'` : sql`AND d.state = 'delivered'`,
      );
  }
}

function conditions(
  tenantId: string,
  { endpointId, event, sequence, createdAfter, createdBefore }: DeliveryFilter,
  beforeId: string | undefined,
): Statement {
  let where = sql`WHERE d.tenant_id = ${tenantId}`;
  if (beforeId !== undefined) where = sql`${where} AND d.id < ${beforeId}`;
  if (endpointId !== undefined) where = sql`${where} AND d.endpoint_id = ${endpointId}`;
  if (event !== undefined) where = sql`${where} AND d.event = ${event} ${ofRareKind(event)}`;
  if (sequence !== undefined) where = sql`${where} AND d.sequence = ${sequence}`;
  if (createdAfter !== undefined) where = sql`${where} AND d.id >= ${idAt(createdAfter)}`;
  if (createdBefore !== undefined) where = sql`${where} AND d.id < ${idAt(createdBefore)}`;
  return where;
}

/** The same condition as in the definitions of the partial indexes, so that they can serve it. */
function ofRareKind(event: string): Statement {
  return event === "transaction.updated" ? sql`` : sql`AND d.event <> 'transaction.updated'`;
}

const selectPending = sql`
  SELECT d.id, d.endpoint_id AS "endpointId", d.sequence, d.event, 'pending' AS state, d.repeats, d.attempts,
    d.due_at AS "dueAt", NULL::timestamptz AS "finishedAt"
  FROM pending_deliveries d
`;

const selectFinished = sql`
  SELECT d.id, d.endpoint_id AS "endpointId", d.sequence, d.event, d.state, d.repeats, d.attempts,
    NULL::timestamptz AS "dueAt", d.finished_at AS "finishedAt"
  FROM finished_deliveries d
`;

function toDelivery({ sequence, dueAt, ...row }: DeliveryRow): Delivery {
  return { ...row, sequence: Number(sequence), nextAttemptAt: dueAt instanceof Date ? dueAt : null };
}
