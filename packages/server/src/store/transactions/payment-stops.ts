import { timeOfUuidV7 } from "@bursar/domain";
import type { IntegrityKeys } from "../../app/access/integrity-keys.js";
import { isStopped, readStops, wasStopped } from "../access/stops/stop-records.js";
import type { Queryable, Tx } from "../core/database.js";
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
  const stopped = await tx.query<{ id: string }>(sql`
    SELECT c.id FROM clients c
    WHERE c.id = ANY (${clientIds}::uuid[]) AND (c.state = 'disabled' OR ${isStopped(sql`c.tenant_id`, sql`c.id`)})
    UNION ALL SELECT s.id FROM tenants s
    WHERE s.id = ANY (${tenantIds}::uuid[]) AND (s.suspended_at IS NOT NULL OR ${isStopped(sql`s.id`, sql`s.id`)})
  `);
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
 * had not noticed it yet. Their ids say when, so one that something else has written is left out. Nothing is read for clients and tenants that have never been stopped.
 */
export async function markRequestedWhileStopped(
  source: Queryable,
  rows: readonly PaymentRow[],
): Promise<void> {
  const asked = rows.filter(
    ({ isTampered, kind, clientStop, tenantStop }) =>
      isTampered !== true && kind !== "deposit" && (clientStop !== null || tenantStop !== null),
  );
  if (asked.length === 0) return;
  const tenantId = sql`given.tenant_id`;
  const found = await source.query<{ id: string }>(sql`
    SELECT given.id FROM unnest(
      ${asked.map((row) => row.tenantId)}::uuid[], ${asked.map(({ id }) => id)}::uuid[],
      ${asked.map(({ clientId }) => clientId)}::uuid[],
      ${asked.map(({ id }) => new Date(timeOfUuidV7(id)).toISOString())}::timestamptz[]) AS given (tenant_id, id, client_id, at)
    WHERE ${wasStopped(tenantId, sql`given.client_id`, sql`given.at`)} OR ${wasStopped(tenantId, tenantId, sql`given.at`)}
  `);
  const ids = new Set(found.map(({ id }) => id));
  for (const row of asked) row.isRequestedWhileStopped = ids.has(row.id);
}
