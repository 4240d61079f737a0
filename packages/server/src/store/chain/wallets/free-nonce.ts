import { sql } from "../../core/sql.js";

/** Of the row `w`: the lowest nonce of a payment that is in no block. Served by chain_payments_open. */
export const lowestOpen = sql`(
  SELECT p.nonce FROM chain_payments p
  WHERE p.network = w.network AND p.wallet_id = w.wallet_id AND p.stage IN ('assigned', 'signed')
  ORDER BY p.network, p.wallet_id, p.nonce LIMIT 1)`;

/**
 * Of the row `w`: the next nonce, or the lowest one that was taken back and that no payment has. Served by the unique key of nonces; of most wallets
 * none was taken back.
 */
export const freeNonce = sql`(CASE WHEN w.reclaimed_from IS NULL THEN w.next_nonce ELSE least(w.next_nonce, coalesce((
  SELECT w.reclaimed_from WHERE NOT EXISTS (
    SELECT FROM chain_payments f
    WHERE f.tenant_id = w.tenant_id AND f.wallet_id = w.wallet_id AND f.nonce = w.reclaimed_from)), (
  SELECT p.nonce + 1 FROM chain_payments p
  WHERE p.tenant_id = w.tenant_id AND p.wallet_id = w.wallet_id AND p.nonce >= w.reclaimed_from AND NOT EXISTS (
    SELECT FROM chain_payments f
    WHERE f.tenant_id = p.tenant_id AND f.wallet_id = p.wallet_id AND f.nonce = p.nonce + 1)
  ORDER BY p.nonce LIMIT 1))) END)`;

/** Of the row `w`: whether that one is below the next nonce. */
export const hasLaterNonces = sql`(${freeNonce} < w.next_nonce)`;
