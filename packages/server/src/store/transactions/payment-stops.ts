import { timeOfUuidV7 } from "@bursar/domain";
import type { IntegrityKeys } from "../../app/access/integrity-keys.js";
import { readStandingAt, type StopAt, stopAt } from "../access/stops/past-stops.js";
import { lastStop, readStanding, readStops } from "../access/stops/stop-records.js";
import { type KeyedQueryable, requireKeys, type Tx } from "../core/database.js";
import { type Statement, sql } from "../core/sql.js";
import type { PaymentRow } from "./settlement.js";

/** What was recorded about a stop counts, whatever the rows of the wallet, the client and the tenant say. */
export function obeyStops(keys: IntegrityKeys, row: PaymentRow): void {
  const { tenantId, clientId, sourceAccountId: walletId } = row;
  const { isFrozen, isHeld, isForged } = readStops(keys, { tenantId, walletId, clientId }, row);
  if (isFrozen) row.sourceIsFrozen = true;
  if (isHeld || row.isCancelledByStop) row.isHeld = true;
  row.hasForgedStop = isForged;
}

/**
 * Locks the clients and tenants for which payments of a batch are held: enabling one waits for this batch, and then finds what it has set
 * aside. One that was enabled while the rows were claimed holds nothing. If something else has locked one, such as the request that enables
 * it, its payments are left to a later batch, so that the others do not wait. Returns the rest. Rare; served by primary keys.
 */
export async function confirmHolds(
  tx: Tx,
  rows: readonly PaymentRow[],
  ifLocked: Statement,
): Promise<readonly PaymentRow[]> {
  const held = rows.filter(({ isHeld }) => isHeld);
  const clientIds = [...new Set(held.map(({ clientId }) => clientId))];
  const tenantIds = [...new Set(held.map(({ tenantId }) => tenantId))];
  const lock = (table: Statement, ids: readonly string[]) =>
    tx.query<{ id: string }>(
      sql`SELECT id FROM ${table} WHERE id = ANY (${[...ids]}::uuid[]) ORDER BY id FOR SHARE ${ifLocked}`,
    );
  const locked = new Set(
    [...(await lock(sql`clients`, clientIds)), ...(await lock(sql`tenants`, tenantIds))].map(({ id }) => id),
  );
  // A statement of its own, which sees what was committed while the locks were waited for.
  const read = await tx.query<{ tenantId: string; id: string; isStopped: boolean; last: string | null }>(sql`
    SELECT c.tenant_id AS "tenantId", c.id, c.state = 'disabled' AS "isStopped", ${lastStop(sql`c.tenant_id`, sql`c.id`)} AS last
    FROM clients c WHERE c.id = ANY (${clientIds}::uuid[])
    UNION ALL SELECT s.id, s.id, s.suspended_at IS NOT NULL, ${lastStop(sql`s.id`, sql`s.id`)}
    FROM tenants s WHERE s.id = ANY (${tenantIds}::uuid[])
  `);
  const keys = requireKeys(tx);
  // Also if something else has meanwhile recorded an end.
  const stopped = read.filter(
    ({ tenantId, id, isStopped, last }) =>
      isStopped || readStanding(keys, { tenantId, subjectId: id }, last) !== "free",
  );
  const holders = new Set(stopped.map(({ id }) => id));
  const isLocked = ({ tenantId, clientId }: PaymentRow) =>
    locked.has(tenantId) && (clientId === null || locked.has(clientId));
  return rows.filter((row) => {
    if (!row.isHeld) return true;
    row.isHeld = row.isCancelledByStop || holders.has(row.clientId ?? "") || holders.has(row.tenantId);
    return isLocked(row);
  });
}

/**
 * Finds payments that were requested while their client was disabled or their tenant suspended: by a token that had ended, in a process that
 * had not noticed it yet. Their ids say when, so one that something else has written is left out. One for which an end was forged waits for the operator. Nothing is read for clients and
 * tenants that have never been stopped.
 */
export async function markRequestedWhileStopped(
  source: KeyedQueryable,
  rows: readonly PaymentRow[],
): Promise<void> {
  const asked = rows.filter(
    ({ isTampered, kind, clientStop, tenantStop }) =>
      isTampered !== true && kind !== "deposit" && (clientStop !== null || tenantStop !== null),
  );
  if (asked.length === 0) return;
  const tenantId = sql`given.tenant_id`;
  const found = await source.query<{ id: string; client: StopAt | null; tenant: StopAt | null }>(sql`
    SELECT given.id, ${stopAt(tenantId, sql`given.client_id`, sql`given.at`)} AS client, ${stopAt(tenantId, tenantId, sql`given.at`)} AS tenant
    FROM unnest(
      ${asked.map((row) => row.tenantId)}::uuid[], ${asked.map(({ id }) => id)}::uuid[],
      ${asked.map(({ clientId }) => clientId)}::uuid[],
      ${asked.map(({ id }) => new Date(timeOfUuidV7(id)).toISOString())}::timestamptz[]) AS given (tenant_id, id, client_id, at)
  `);
  const stops = new Map(found.map((stop) => [stop.id, stop]));
  const keys = requireKeys(source);
  for (const row of asked) {
    const { client = null, tenant = null } = stops.get(row.id) ?? {};
    const standings = [
      readStandingAt(keys, { tenantId: row.tenantId, subjectId: row.clientId ?? "" }, client),
      readStandingAt(keys, { tenantId: row.tenantId, subjectId: row.tenantId }, tenant),
    ];
    row.isRequestedWhileStopped = standings.includes("stopped");
    if (standings.includes("forged")) row.hasForgedStop = true;
  }
}
