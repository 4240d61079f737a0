import type { WalletKey } from "../../../app/chain/chain-store.js";
import type { SignedOfWallet } from "../../../app/chain/unconfirmed-wallet.js";
import type { Queryable } from "../../core/database.js";
import { sql } from "../../core/sql.js";
import { listWallets } from "./confirmed-wallets.js";
import { freeNonce } from "./free-nonce.js";

/** Of the row `w`: payments that have no nonce, and that the signer has bound to one which is not used. Served by chain_payments_bound. */
const boundPayments = sql`
  chain_payments b WHERE b.tenant_id = w.tenant_id AND b.wallet_id = w.wallet_id AND b.stage = 'ready'
    AND b.bound_nonce IS NOT NULL AND b.bound_nonce >= least(w.final_nonce, ${freeNonce})`;

/** Of the row `w`: the lowest such nonce. */
export const lowestBound = sql`(SELECT min(b.bound_nonce) FROM ${boundPayments})`;

/** In the order of their nonces. Served by the primary key and chain_payments_bound. */
export async function listBoundNonces(
  tx: Queryable,
  wallets: readonly WalletKey[],
): Promise<SignedOfWallet[]> {
  if (wallets.length === 0) return [];
  const rows = await tx.query<Omit<SignedOfWallet, "nonce"> & { nonce: string }>(sql`
    SELECT b.tenant_id AS "tenantId", b.wallet_id AS "walletId", b.transaction_id AS "transactionId", b.bound_nonce AS nonce
    FROM ${listWallets(wallets)}
    CROSS JOIN LATERAL (
      SELECT * FROM chain_wallets w
      WHERE w.tenant_id = given.tenant_id AND w.wallet_id = given.wallet_id LIMIT 1) AS w
    CROSS JOIN LATERAL (SELECT b.* FROM ${boundPayments} ORDER BY b.bound_nonce LIMIT ${boundMax}) AS b
    ORDER BY b.bound_nonce
  `);
  return rows.map((row) => ({ ...row, nonce: Number(row.nonce) }));
}

/** Far more than a wallet has in flight. */
const boundMax = 4096;
