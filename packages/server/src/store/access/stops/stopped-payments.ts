import type {
  CancellingStop,
  CancellingStopsPage,
  StopPosition,
  StoppedPage,
} from "../../../app/clients/stopped-work.js";
import { allClients } from "../../../app/clients/sweep.js";
import type { Queryable } from "../../core/database.js";
import { idAt } from "../../core/id-at.js";
import { sql } from "../../core/sql.js";

/**
 * Clients of which the last record that cancels payments is from after something that is still open in their tenant. A sweep that waits cancels
 * them itself, and names who has requested it. A record stays, also if everything was cancelled, so this reads one index entry of each, and
 * nothing of its client. Served by stop_records_cancelling and primary keys.
 */
export async function listCancellingStops(
  database: Queryable,
  after: StopPosition | undefined,
  limit: number,
): Promise<CancellingStopsPage> {
  const rows = await database.query<CancellingStop>(sql`
    SELECT s.tenant_id AS "tenantId", s.subject_id AS "clientId", max(s.recorded_at) AS "recordedAt",
      max(s.recorded_at) < now() - interval '1 minute' AS "isPast"
    FROM stop_records s
    WHERE s.cancels AND (s.tenant_id, s.subject_id) > (${after?.tenantId ?? allClients}::uuid, ${after?.clientId ?? allClients}::uuid)
    GROUP BY s.tenant_id, s.subject_id ORDER BY s.tenant_id, s.subject_id LIMIT ${limit}
  `);
  const next = rows.length < limit ? undefined : rows.at(-1);
  if (rows.length === 0) return { stops: [], next };
  const open = await database.query<{ clientId: string }>(sql`
    SELECT given.client_id AS "clientId" FROM unnest(
      ${rows.map(({ tenantId }) => tenantId)}::uuid[], ${rows.map(({ clientId }) => clientId)}::uuid[],
      ${rows.map(endOf)}::uuid[]) AS given (tenant_id, client_id, before)
    WHERE (SELECT true FROM open_transactions o WHERE o.tenant_id = given.tenant_id AND o.id < given.before LIMIT 1)
      AND (SELECT count(*) = 0 FROM client_sweeps w
        WHERE w.tenant_id = given.tenant_id AND w.client_id = given.client_id AND w.kind = 'cancel_transactions')
  `);
  const wanted = new Set(open.map(({ clientId }) => clientId));
  return { stops: rows.filter(({ clientId }) => wanted.has(clientId)), next };
}

/** The least id of what was requested after the stop. */
function endOf({ recordedAt }: Pick<CancellingStop, "recordedAt">): string {
  return idAt(new Date(recordedAt.getTime() + 1));
}

/**
 * Reads transactions that a client had requested before it was stopped, the last ones first, and finds those that are open. Those before the
 * oldest open one of the tenant are not read: they have all ended, and there may be millions. Also if the client was enabled since. One that no rail has begun is found although its cancellation was requested: that was while its wallet was halted. Served by transactions_by_client and primary keys.
 */
export async function listStoppedPayments(
  database: Queryable,
  { tenantId, clientId, recordedAt }: CancellingStop,
  before: string | undefined,
  limit: number,
): Promise<StoppedPage> {
  const rows = await database.query<{ id: string; isWanted: boolean; isOnRail: boolean }>(sql`
    SELECT t.id, o.id IS NOT NULL AND (o.state IN ('accepted', 'awaiting_approval') OR NOT o.cancel_requested)
        AND t.kind <> 'deposit' AND t.created_at < ${recordedAt} AS "isWanted",
      o.state NOT IN ('accepted', 'awaiting_approval') AS "isOnRail"
    FROM (
      SELECT t.tenant_id, t.id, t.kind, t.created_at FROM transactions t
      WHERE t.tenant_id = ${tenantId} AND t.client_id = ${clientId}
        AND t.id < ${before ?? endOf({ recordedAt })}
        AND t.id >= (SELECT o.id FROM open_transactions o WHERE o.tenant_id = ${tenantId} ORDER BY o.id LIMIT 1)
      ORDER BY t.id DESC LIMIT ${limit}) AS t
    LEFT JOIN LATERAL (
      SELECT o.id, o.state, o.cancel_requested FROM open_transactions o
      WHERE o.tenant_id = t.tenant_id AND o.id = t.id LIMIT 1) AS o ON true
    ORDER BY t.id DESC
  `);
  const wanted = rows.filter(({ isWanted }) => isWanted);
  return {
    unsettled: wanted.filter(({ isOnRail }) => !isOnRail).map(({ id }) => id),
    onRail: wanted.filter(({ isOnRail }) => isOnRail).map(({ id }) => id),
    next: rows.length < limit ? undefined : rows.at(-1)?.id,
  };
}
