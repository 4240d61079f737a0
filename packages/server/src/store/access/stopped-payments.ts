import type { OpenOfTenant } from "../../app/clients/stopped-work.js";
import { allClients } from "../../app/clients/sweeps.js";
import type { Queryable } from "../core/database.js";
import { joinByKey } from "../core/rows/locate-rows.js";
import { sql } from "../core/sql.js";

interface Row {
  tenantId: string;
  id: string;
  isOnRail: boolean;
  isWanted: boolean;
}

/**
 * Open payments that were requested before their client was disabled by a record alone, which says that they are cancelled. Also if the client
 * was enabled since. A position is a tenant and a transaction. Served by primary keys and stop_records_cancelling, which is empty nearly always:
 * then no payment is read.
 */
export async function listStoppedPayments(
  database: Queryable,
  after: string | undefined,
  limit: number,
): Promise<{ found: OpenOfTenant[]; next: string | undefined }> {
  const [tenantId = allClients, id = allClients] = after?.split(" ") ?? [];
  const rows = await database.query<Row>(sql`
    SELECT o.tenant_id AS "tenantId", o.id, o.state NOT IN ('accepted', 'awaiting_approval') AS "isOnRail",
      t.kind <> 'deposit' AND NOT o.cancel_requested AND EXISTS (
        SELECT FROM stop_records s
        WHERE s.cancels AND s.tenant_id = t.tenant_id AND s.subject_id = t.client_id AND s.recorded_at > t.created_at) AS "isWanted"
    FROM (
      SELECT p.tenant_id, p.id, p.state, p.cancel_requested FROM open_transactions p
      WHERE (p.tenant_id, p.id) > (${tenantId}::uuid, ${id}::uuid) AND EXISTS (SELECT FROM stop_records s WHERE s.cancels)
      ORDER BY p.tenant_id, p.id LIMIT ${limit}) AS o
    ${joinByKey(sql`transactions`, sql`t`, sql`o`)}
    ORDER BY o.tenant_id, o.id
  `);
  const last = rows.length < limit ? undefined : rows.at(-1);
  const found = new Map<string, { unsettled: string[]; onRail: string[] }>();
  for (const row of rows.filter(({ isWanted }) => isWanted)) {
    const own = found.get(row.tenantId) ?? { unsettled: [], onRail: [] };
    found.set(row.tenantId, own);
    (row.isOnRail ? own.onRail : own.unsettled).push(row.id);
  }
  return {
    found: [...found].map(([of, open]) => ({ tenantId: of, ...open })),
    next: last && `${last.tenantId} ${last.id}`,
  };
}
