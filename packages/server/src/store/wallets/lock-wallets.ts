import { hasKey } from "../core/rows/locate-rows.js";
import { type Statement, sql } from "../core/sql.js";

/**
 * Joins the wallet that a row pays from: `w` with what never changes, and `locked.frozen`. The wallet is locked against a freeze: one that
 * has been answered is obeyed, and one that comes now waits for this batch. While a freeze is waiting, `locked` is missing and the wallet
 * counts as frozen: PostgreSQL lets further shared locks in before a freeze that waits, so those who pay all the time could delay it
 * without end. A request lasts 30 seconds: the service has not written one that lasts longer. The wallet exists, so it is the first one from its key on; of the indexes of an empty table only the primary key has this order,
 * and any other would read all wallets of the tenant for each payment of the first backlog.
 */
export function joinWallet(row: Statement, walletId: Statement): Statement {
  const fromKey = sql`(w.tenant_id, w.id) >= (${row}.tenant_id, ${walletId})`;
  return sql`
    JOIN LATERAL (
      SELECT w.tenant_id, w.id, w.purpose, w.network FROM wallets w WHERE ${fromKey}
      ORDER BY w.tenant_id, w.id LIMIT 1) AS w ON ${hasKey(sql`w`, row, walletId)}
    LEFT JOIN LATERAL (
      SELECT w.tenant_id, w.id, w.frozen FROM wallets w WHERE ${fromKey} AND NOT EXISTS (
        SELECT FROM requested_freezes f
        WHERE f.tenant_id = ${row}.tenant_id AND f.wallet_id = ${walletId} AND f.until > now() AND f.until < now() + interval '1 minute')
      ORDER BY w.tenant_id, w.id LIMIT 1 FOR SHARE OF w) AS locked ON ${hasKey(sql`locked`, row, walletId)}`;
}

/** Whether the wallet that `joinWallet` has joined is frozen. */
export const isWalletFrozen = sql`coalesce(locked.frozen, true)`;
