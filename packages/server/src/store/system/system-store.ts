import { timeOfUuidV7 } from "@bursar/domain";
import type { Backlog, Failure, SystemQueues, SystemStore } from "../../app/system/system.js";
import { countedRowsMax } from "../../app/webhooks/endpoint-stats.js";
import { appendAudit } from "../access/audit.js";
import type { Database, Queryable } from "../core/database.js";
import { type FailureTable, listFailuresOf, retryFailureOf } from "../core/rows/failures.js";
import { type Statement, sql } from "../core/sql.js";
import { orderFailures } from "../markets/claim-orders.js";
import { transactionFailures } from "../transactions/settlement.js";
import { walletFailures } from "../wallets/activate-wallets.js";
import { deliveryFailures } from "../webhooks/webhook-sending.js";

const failuresMax = 50;

const failureTables: Readonly<Record<Failure["kind"], FailureTable>> = {
  transaction: transactionFailures,
  order: orderFailures,
  wallet: walletFailures,
  delivery: deliveryFailures,
};

/** What one tenant may see of the service's queues. Every part reads a bounded number of rows in the order of an index. */
export function createSystemStore(database: Database): SystemStore {
  return {
    readQueues: (tenantId) => readQueues(database, tenantId),
    // A service has a handful of markets.
    listMarkets: () =>
      database.query(sql`
        SELECT market, CASE WHEN expires_at > clock_timestamp() THEN holder END AS holder,
          held_since AS "heldSince", halted_reason IS NOT NULL AS "isHalted"
        FROM markets ORDER BY market LIMIT 100
      `),
    listFailures: async (tenantId) => {
      const kinds = Object.entries(failureTables) as [Failure["kind"], FailureTable][];
      const found = await Promise.all(
        kinds.map(async ([kind, table]) => {
          const rows = await listFailuresOf(database, table, tenantId, failuresMax);
          return rows.map(({ id, attempts, retryAt }) => ({
            kind,
            id,
            attempts,
            // An infinite time comes as a number.
            retryAt: retryAt instanceof Date ? retryAt : undefined,
            isSetAside: String(retryAt) === "Infinity",
          }));
        }),
      );
      return found.flat();
    },
    retryFailure: (tenantId, { kind, id }, now, audit) =>
      database.transaction(async (tx) => {
        const isRetried = await retryFailureOf(tx, failureTables[kind], { tenantId, id }, now);
        if (isRetried) await appendAudit(tx, [audit]);
        return isRetried;
      }),
  };
}

interface QueueRow {
  accepted: number;
  oldestAccepted: string | null;
  awaitingApproval: number;
  deliveries: number;
  oldestDelivery: string | null;
  deferredEvents: string;
  failingEndpoints: number;
  disabledEndpoints: number;
}

/**
 * Served by open_transactions_to_do, open_transactions_due_of_tenant, the primary keys, and webhook_endpoints_live; a tenant has few
 * endpoints.
 */
async function readQueues(source: Queryable, tenantId: string): Promise<SystemQueues> {
  const isAccepted = sql`tenant_id = ${tenantId} AND state = 'accepted' AND retry_at IS NULL`;
  const isAwaiting = sql`tenant_id = ${tenantId} AND state = 'awaiting_approval' AND retry_at IS NULL`;
  const isPending = sql`tenant_id = ${tenantId}`;
  const endpoints = (which: Statement) => sql`(
    SELECT count(*)::integer FROM webhook_endpoints WHERE tenant_id = ${tenantId} AND state <> 'deleted' AND ${which})`;
  const [row] = await source.query<QueueRow>(sql`
    SELECT ${countOf(sql`open_transactions`, isAccepted)} AS accepted,
      ${oldestOf(sql`open_transactions`, isAccepted)} AS "oldestAccepted",
      ${countOf(sql`open_transactions`, isAwaiting)} AS "awaitingApproval",
      ${countOf(sql`pending_deliveries`, isPending)} AS deliveries,
      ${oldestOf(sql`pending_deliveries`, isPending)} AS "oldestDelivery",
      coalesce((
        SELECT s.sequence - b.done_sequence FROM delivery_backlogs b JOIN event_sequences s ON s.tenant_id = b.tenant_id
        WHERE b.tenant_id = ${tenantId} AND s.tenant_id = ${tenantId}), 0)::text AS "deferredEvents",
      ${endpoints(sql`state = 'enabled' AND failing_since IS NOT NULL`)} AS "failingEndpoints",
      ${endpoints(sql`state = 'disabled' AND disabled_reason <> 'requested'`)} AS "disabledEndpoints"
  `);
  if (row === undefined) throw new Error("a statement without a FROM has returned no row");
  return {
    accepted: toBacklog(row.accepted, row.oldestAccepted),
    awaitingApproval: { count: row.awaitingApproval, isBound: row.awaitingApproval === countedRowsMax },
    deliveries: toBacklog(row.deliveries, row.oldestDelivery),
    deferredEvents: Number(row.deferredEvents),
    failingEndpoints: row.failingEndpoints,
    disabledEndpoints: row.disabledEndpoints,
  };
}

function countOf(table: Statement, where: Statement): Statement {
  return sql`(SELECT count(*)::integer FROM (SELECT FROM ${table} WHERE ${where} LIMIT ${countedRowsMax}) AS counted)`;
}

function oldestOf(table: Statement, where: Statement): Statement {
  return sql`(SELECT id FROM ${table} WHERE ${where} ORDER BY id LIMIT 1)`;
}

function toBacklog(count: number, oldestId: string | null): Backlog {
  return {
    count,
    isBound: count === countedRowsMax,
    oldestAt: oldestId === null ? undefined : new Date(timeOfUuidV7(oldestId)),
  };
}
