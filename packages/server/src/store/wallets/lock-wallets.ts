import { hasKey } from "../core/locate-rows.js";
import { type Statement, sql } from "../core/sql.js";

/**
 * Joins the wallet that a row pays from: `w` with what never changes, and `locked.frozen`. The wallet is locked against a freeze: one that
 * has been answered is obeyed, and one that comes now waits for this batch. While a freeze is waiting, `locked` is missing and the wallet
 * counts as frozen: PostgreSQL lets further shared locks in before a freeze that waits, so those who pay all the time could delay it for
 * ever. Served by the primary keys.
 */
export function joinWallet(row: Statement, walletId: Statement): Statement {
  return sql`
    CROSS JOIN LATERAL (
      SELECT w.id, w.purpose, w.network FROM wallets w WHERE ${hasKey(sql`w`, row, walletId)} LIMIT 1) AS w
    LEFT JOIN LATERAL (
      SELECT w.frozen FROM wallets w WHERE ${hasKey(sql`w`, row, walletId)} AND NOT EXISTS (
        SELECT FROM requested_freezes f
        WHERE f.tenant_id = ${row}.tenant_id AND f.wallet_id = ${walletId} AND f.until > now())
      FOR SHARE OF w) AS locked ON true`;
}

/** Whether the wallet that `joinWallet` has joined is frozen. */
export const isWalletFrozen = sql`coalesce(locked.frozen, true)`;
