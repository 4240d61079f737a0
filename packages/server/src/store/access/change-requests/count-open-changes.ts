import { areIndependent, everyone } from "@bursar/domain";
import type { OpenChanges } from "../../../app/change-requests/change-request.js";
import type { Tx } from "../../core/database.js";
import { sql } from "../../core/sql.js";
import { type StandingReader, standingOf } from "../lineage/lineage.js";

/**
 * The tenant stays locked, so that concurrent requests do not all find room. The standings are read before, because the engine waits for
 * this lock; a client that has requested something in between counts as related.
 */
export async function countOpen(
  tx: Tx,
  reader: StandingReader,
  tenantId: string,
  requesterId: string,
): Promise<OpenChanges> {
  const before = await countByRequester(tx, tenantId);
  const standings = await reader.read([requesterId, ...before.map((row) => row.requestedBy)]);
  tx.send(sql`SELECT FROM tenants WHERE id = ${tenantId} FOR NO KEY UPDATE`);
  const rows = await countByRequester(tx, tenantId);
  const { lineage, isSingleAdministrator } = standingOf(standings, requesterId);
  const hasControllers = !isSingleAdministrator && (lineage & (lineage - 1n)) !== 0n;
  // Clients with too long a lineage use up the room of each other, not that of a client with a short one.
  const isRelated = (id: string) => {
    const other = standings.get(id)?.lineage;
    if (other === everyone) return lineage === everyone;
    return other === undefined || !areIndependent(lineage, other);
  };
  const sum = (counted: typeof rows) => counted.reduce((all, { count }) => all + count, 0);
  return {
    ofTenant: sum(rows),
    own: sum(rows.filter(({ requestedBy }) => requestedBy === requesterId)),
    ofLineage: hasControllers
      ? sum(rows.filter(({ requestedBy }) => requestedBy !== requesterId && isRelated(requestedBy)))
      : 0,
  };
}

/** Served by change_requests_open. A tenant has at most 100 open ones. */
function countByRequester(tx: Tx, tenantId: string): Promise<{ requestedBy: string; count: number }[]> {
  return tx.query(sql`
    SELECT requested_by AS "requestedBy", count(*)::integer AS count FROM change_requests
    WHERE tenant_id = ${tenantId} AND state IN ('pending', 'scheduled') GROUP BY requested_by
  `);
}
