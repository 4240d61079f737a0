import type { Wallet } from "../../app/wallets/wallet.js";
import { findStanding, recordStop } from "../access/stops/stop-records.js";
import type { Queryable, Tx } from "../core/database.js";
import { sql } from "../core/sql.js";

/** Longer than a freeze can wait: it ends with the statement timeout. */
const requestedFor = sql`interval '30 seconds'`;

/** Committed on its own, so that what is claimed from now on obeys the freeze. Served by the primary keys. */
export async function requestFreeze(database: Queryable, tenantId: string, id: string): Promise<void> {
  await database.query(sql`
    INSERT INTO requested_freezes (tenant_id, wallet_id, until)
    SELECT w.tenant_id, w.id, now() + ${requestedFor} FROM wallets w
    WHERE w.tenant_id = ${tenantId} AND w.id = ${id} AND NOT w.frozen
    ON CONFLICT (tenant_id, wallet_id) DO UPDATE SET until = excluded.until
  `);
}

interface FreezeChange {
  tenantId: string;
  id: string;
  frozen: boolean;
  /** Replaces that of an earlier freeze, if there is one. */
  reason: string | null;
  now: Date;
}

/** Undefined if nothing changes. The row is locked first, so that the record is the last one. Served by the primary key. */
export async function writeFrozen(
  tx: Tx,
  { tenantId, id, frozen, reason, now }: FreezeChange,
): Promise<(Pick<Wallet, "state" | "version" | "frozenReason"> & { wasFrozen: boolean }) | undefined> {
  const [wallet] = await tx.query<{ frozen: boolean; reason: string | null }>(
    sql`SELECT frozen, frozen_reason AS reason FROM wallets WHERE tenant_id = ${tenantId} AND id = ${id} FOR NO KEY UPDATE`,
  );
  if (wallet === undefined) return undefined;
  const subject = { tenantId, subjectId: id };
  const standing = await findStanding(tx, subject);
  // The two differ if something other than the service has changed one of them.
  const isUnchanged = wallet.frozen === frozen && standing === (frozen ? "stopped" : "free");
  const frozenReason = frozen ? (reason ?? wallet.reason) : null;
  if (isUnchanged && frozenReason === wallet.reason) return undefined;
  if (!isUnchanged) await recordStop(tx, subject, frozen);
  const [changed] = await tx.query<Pick<Wallet, "state" | "version">>(sql`
    UPDATE wallets w SET frozen = ${frozen}, frozen_reason = ${frozenReason}, version = least(w.version, 2147483646) + 1, updated_at = ${now}
    WHERE w.tenant_id = ${tenantId} AND w.id = ${id} RETURNING w.state, w.version
  `);
  return changed && { ...changed, frozenReason, wasFrozen: wallet.frozen };
}
