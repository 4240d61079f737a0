import type { AuditDraft } from "../../app/audit/audit-entry.js";
import type { ApiClient, ClientChange } from "../../app/clients/client.js";
import { allClients, type Sweep, type SweepKind, type SweepStore } from "../../app/clients/sweeps.js";
import { actorIdOfAct, operatorActorId } from "../../app/events/actor.js";
import type { Database, Tx } from "../core/database.js";
import { idAt } from "../core/id-at.js";
import { type Statement, sql } from "../core/sql.js";

/** Records what a change of a client's state leaves to do. The orders of a disabled client are always cancelled. */
export function queueSweepsOfChange(
  tx: Tx,
  client: Pick<ApiClient, "tenantId" | "id" | "state">,
  { set, cancel = [] }: ClientChange,
  audit: AuditDraft,
): void {
  const { tenantId, id: clientId } = client;
  const state = set?.state ?? client.state;
  if (state === "active" && client.state === "disabled")
    queueSweeps(tx, { tenantId, clientId }, ["release_transactions"], audit);
  const isDisabledNow = state === "disabled" && client.state === "active";
  if (state === "disabled" && (isDisabledNow || cancel.length > 0)) {
    const transactions = cancel.includes("transactions") ? (["cancel_transactions"] as const) : [];
    queueSweeps(tx, { tenantId, clientId }, ["cancel_orders", ...transactions], audit);
  }
}

/** A sweep that waits begins again with the later request. */
export function queueSweeps(
  tx: Tx,
  { tenantId, clientId }: Pick<Sweep, "tenantId" | "clientId">,
  kinds: readonly SweepKind[],
  audit: AuditDraft,
): void {
  const requestedBy = actorIdOfAct(audit) ?? operatorActorId;
  tx.send(sql`
    INSERT INTO client_sweeps (tenant_id, client_id, kind, requested_by, requested_at)
    SELECT ${tenantId}::uuid, ${clientId}::uuid, kind, ${requestedBy}::uuid, ${audit.occurredAt}::timestamptz
    FROM unnest(${[...kinds]}::text[]) AS wanted (kind)
    ON CONFLICT (tenant_id, client_id, kind) DO UPDATE
      SET requested_by = EXCLUDED.requested_by, requested_at = EXCLUDED.requested_at
  `);
}

export function createSweepStore(database: Database): SweepStore {
  return {
    // The table is empty nearly always; one client's sweeps are served by the primary key. A tenant with many does not hide those of others.
    listSweeps: (limit, of) =>
      database.query<Sweep>(sql`
        SELECT tenant_id AS "tenantId", client_id AS "clientId", kind, requested_by AS "requestedBy", requested_at AS "requestedAt"
        FROM client_sweeps
        ${of === undefined ? sql`` : sql`WHERE tenant_id = ${of.tenantId} AND client_id = ${of.clientId}`}
        ORDER BY kind <> 'cancel_orders',
          row_number() OVER (PARTITION BY tenant_id, kind = 'cancel_orders' ORDER BY requested_at), requested_at
        LIMIT ${limit}
      `),
    // Served by primary keys: a tenant has few open orders. Locked in the order of their ids, as a matching engine locks them.
    requestOrderCancels: async (sweep, limit) => {
      const rows = await database.query<{ market: string }>(sql`
        WITH own AS (
          SELECT p.tenant_id, p.id FROM open_orders p JOIN orders o ON o.tenant_id = p.tenant_id AND o.id = p.id
          WHERE p.tenant_id = ${sweep.tenantId} AND NOT p.cancel_requested AND ${isSwept(sweep, sql`o`)}
          ORDER BY p.id LIMIT ${limit} FOR UPDATE OF p)
        UPDATE open_orders p SET cancel_requested = true, change_requested_by = ${sweep.requestedBy}
        FROM own WHERE p.tenant_id = own.tenant_id AND p.id = own.id
        RETURNING p.market
      `);
      return rows.map(({ market }) => market);
    },
    // Served by primary keys.
    hasOpenOrders: async (sweep) => {
      const rows = await database.query(sql`
        SELECT FROM open_orders p JOIN orders o ON o.tenant_id = p.tenant_id AND o.id = p.id
        WHERE p.tenant_id = ${sweep.tenantId} AND ${isSwept(sweep, sql`o`)} LIMIT 1
      `);
      return rows.length > 0;
    },
    // Served by primary keys.
    listUnsettled: async (sweep, afterId, limit) => {
      const rows = await database.query<{ id: string }>(sql`
        SELECT o.id FROM open_transactions o JOIN transactions t ON t.tenant_id = o.tenant_id AND t.id = o.id
        WHERE o.tenant_id = ${sweep.tenantId} AND o.id > ${afterId ?? allClients}
          AND o.state IN ('accepted', 'awaiting_approval') AND ${isSwept(sweep, sql`t`)}
        ORDER BY o.id LIMIT ${limit}
      `);
      return rows.map(({ id }) => id);
    },
    // Served by primary keys.
    requestRailCancels: async (sweep) => {
      await database.query(sql`
        UPDATE open_transactions o SET cancel_requested = true,
          cancel_requested_by = coalesce(o.cancel_requested_by, ${sweep.requestedBy})
        FROM transactions t
        WHERE o.tenant_id = ${sweep.tenantId} AND o.state IN ('processing', 'broadcast', 'confirming') AND NOT o.cancel_requested
          AND t.tenant_id = o.tenant_id AND t.id = o.id AND t.kind <> 'deposit' AND ${isSwept(sweep, sql`t`)}
      `);
    },
    // Served by primary keys. A row that has failed also has a time to retry, and keeps it. What was accepted is judged again: the policy
    // can have been tightened for the very reason that the client was disabled.
    releaseHeld: async (sweep, afterId, limit) => {
      const rows = await database.query<{ id: string }>(sql`
        WITH held AS (
          SELECT o.tenant_id, o.id, o.state = 'accepted' AND t.kind <> 'deposit' AS is_judged_again
          FROM open_transactions o JOIN transactions t ON t.tenant_id = o.tenant_id AND t.id = o.id
          WHERE o.tenant_id = ${sweep.tenantId} AND o.id > ${afterId ?? allClients}
            AND o.retry_at IS NOT NULL AND o.last_error IS NULL ${isOfClient(sweep, sql`t`)}
          ORDER BY o.id LIMIT ${limit} FOR UPDATE OF o)
        UPDATE open_transactions o SET retry_at = NULL, needs_judgement = o.needs_judgement OR held.is_judged_again FROM held
        WHERE o.tenant_id = held.tenant_id AND o.id = held.id RETURNING o.id
      `);
      return rows.map(({ id }) => id).sort();
    },
    // Not if it was requested again in the meantime.
    finishSweep: async ({ tenantId, clientId, kind, requestedAt }) => {
      await database.query(sql`
        DELETE FROM client_sweeps
        WHERE tenant_id = ${tenantId} AND client_id = ${clientId} AND kind = ${kind} AND requested_at = ${requestedAt}
      `);
    },
  };
}

/** What the client requested before it was disabled. */
function isSwept(sweep: Pick<Sweep, "clientId" | "requestedAt">, row: Statement): Statement {
  const until = idAt(new Date(sweep.requestedAt.getTime() + 1));
  return sql`${row}.id < ${until} ${isOfClient(sweep, row)}`;
}

function isOfClient({ clientId }: Pick<Sweep, "clientId">, row: Statement): Statement {
  return clientId === allClients ? sql`` : sql`AND ${row}.client_id = ${clientId}`;
}
