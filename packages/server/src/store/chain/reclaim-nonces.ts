import type { WalletKey } from "../../app/chain/chain-store.js";
import type { UnsignableNonce, UnsignedNonce } from "../../app/chain/nonce-use.js";
import type { Queryable, Tx } from "../core/database.js";
import { locateRows } from "../core/rows/locate-rows.js";
import { sql } from "../core/sql.js";
import { currentEpoch } from "./wallets/confirmed-wallets.js";

/** Locked. Served by chain_payments_open; at most as many as an address may have in flight. */
export async function listUnsignedNonces(
  tx: Queryable,
  network: string,
  { tenantId, walletId }: WalletKey,
): Promise<UnsignedNonce[]> {
  const rows = await tx.query<Omit<UnsignedNonce, "nonce"> & { nonce: string }>(sql`
    SELECT p.tenant_id AS "tenantId", p.transaction_id AS id, p.nonce, p.stop_reason IS NOT NULL AS "isStopped"
    FROM chain_payments p
    WHERE p.network = ${network} AND p.wallet_id = ${walletId} AND p.tenant_id = ${tenantId}
      AND p.stage IN ('assigned', 'signed') AND p.stage = 'assigned' AND p.attempt = 0
    ORDER BY p.transaction_id FOR UPDATE
  `);
  return rows.map((row) => ({ ...row, nonce: Number(row.nonce) }));
}

/**
 * What is held for their fees stays. The next nonce follows the last one that a payment has; the first that none has below it is given before. Served by
 * primary keys and the unique key of nonces.
 */
export function reclaimNonces(
  tx: Tx,
  { tenantId, walletId }: WalletKey,
  payments: readonly UnsignableNonce[],
): void {
  if (payments.length === 0) return;
  const lowest = Math.min(...payments.map(({ nonce }) => nonce));
  tx.send(sql`
    UPDATE chain_payments p SET stage = 'ready', nonce = NULL, wanted = 0, purpose = 'payment', gas_limit = NULL, data_fee = 0,
      max_fee = NULL, max_tip = NULL, terms_number = NULL, terms_key_id = NULL, terms_mac = NULL, assigned_at = NULL,
      bound_nonce = coalesce(given.bound_nonce, p.bound_nonce)
    FROM ${locateRows(
      sql`chain_payments`,
      sql`unnest(
        ${payments.map(({ id }) => id)}::uuid[], ${payments.map(({ boundNonce }) => boundNonce)}::bigint[]
      ) AS given (id, bound_nonce)`,
      sql`r.tenant_id = ${tenantId} AND r.transaction_id = given.id`,
    )} AS given WHERE p.ctid = given.place
  `);
  tx.send(sql`
    UPDATE chain_wallets w SET next_nonce = given.next_nonce, confirmed_epoch = least(w.confirmed_epoch, ${currentEpoch} - 1),
      reclaimed_from = CASE WHEN given.lowest < given.next_nonce THEN given.lowest END
    FROM (
      SELECT least(w.reclaimed_from, ${lowest}::bigint) AS lowest, greatest(w.final_nonce, (
        SELECT p.nonce + 1 FROM chain_payments p
        WHERE p.tenant_id = ${tenantId} AND p.wallet_id = ${walletId} AND p.nonce IS NOT NULL
        ORDER BY p.nonce DESC LIMIT 1)) AS next_nonce
      FROM chain_wallets w WHERE w.tenant_id = ${tenantId} AND w.wallet_id = ${walletId}) AS given
    WHERE w.tenant_id = ${tenantId} AND w.wallet_id = ${walletId}
  `);
}
