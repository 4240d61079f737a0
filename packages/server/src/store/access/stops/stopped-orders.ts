import { allClients, type SweepStore } from "../../../app/clients/sweep.js";
import { type Database, requireKeys } from "../../core/database.js";
import { joinByKey, listKeys, locateRows } from "../../core/rows/locate-rows.js";
import { sql } from "../../core/sql.js";
import { cancelBy } from "../../markets/request-changes.js";
import { marketStopColumns, readStops, type StopColumns } from "./stop-records.js";

interface Row extends StopColumns {
  tenantId: string;
  id: string;
  walletId: string;
  clientId: string | null;
  isCancelled: boolean;
}

/**
 * A position is a tenant and an order. One that something else has locked is left for the next time. Stops that were just written as a whole
 * have sweeps, which name who has stopped the client. Served by primary keys.
 */
export async function cancelStoppedOrders(
  database: Database,
  after: string | undefined,
  limit: number,
): ReturnType<SweepStore["cancelStoppedOrders"]> {
  const [tenantId = allClients, id = allClients] = after?.split(" ") ?? [];
  const rows = await database.query<Row>(sql`
    SELECT p.tenant_id AS "tenantId", p.id, p.cancel_requested AS "isCancelled", o.wallet_id AS "walletId", o.client_id AS "clientId",
      ${marketStopColumns(sql`o`)}
    FROM (
      SELECT tenant_id, id, cancel_requested FROM open_orders WHERE (tenant_id, id) > (${tenantId}::uuid, ${id}::uuid)
      ORDER BY tenant_id, id LIMIT ${limit}) AS p
    ${joinByKey(sql`orders`, sql`o`, sql`p`)}
    ORDER BY p.tenant_id, p.id
  `);
  const keys = requireKeys(database);
  const stopped = rows.filter((row) => {
    const { isFrozen, isHeld, isForged } = readStops(keys, row, row);
    return !row.isCancelled && (isFrozen || isHeld || isForged);
  });
  const last = rows.length < limit ? undefined : rows.at(-1);
  const next = last && `${last.tenantId} ${last.id}`;
  if (stopped.length === 0) return { markets: [], next };
  const requested = await database.query<{ market: string }>(sql`
    UPDATE open_orders p SET ${cancelBy(null)} FROM (
      SELECT r.ctid AS place FROM ${locateRows(sql`open_orders`, listKeys(stopped))} AS found
      JOIN open_orders r ON r.ctid = found.place WHERE NOT r.cancel_requested FOR UPDATE OF r SKIP LOCKED) AS free
    WHERE p.ctid = free.place RETURNING p.market
  `);
  return { markets: [...new Set(requested.map(({ market }) => market))], next };
}
