import type { Settlement } from "../../app/transactions/settlement.js";
import { requireKeys, type Tx } from "../core/database.js";
import { sql } from "../core/sql.js";
import { macOfBegun } from "../transactions/transaction-integrity.js";

/**
 * Gives the payments that a batch has begun to the drivers of their chains. A payment of a wallet that has no address on a chain is another
 * rail's. A batch of the book sends nothing. Served by the primary key of the wallets.
 */
export function beginPayments(tx: Tx, settlements: readonly Settlement[]): void {
  const begun = settlements.filter(
    ({ transaction, decision }) => decision?.state === "processing" && transaction.state !== "processing",
  );
  if (begun.length === 0) return;
  const keys = requireKeys(tx);
  const macs = begun.map(({ transaction: { tenantId, id, sourceAccountId, cancelRequested } }) => {
    // The engine lets it begin before it is judged or approved, so that its nonce can be used.
    const purpose = cancelRequested === true ? "cancel" : "pay";
    return macOfBegun(keys, { tenantId, id, walletId: sourceAccountId }, purpose).mac.toString("hex");
  });
  tx.send(sql`
    INSERT INTO chain_payments (tenant_id, transaction_id, network, wallet_id, stage, key_id, mac)
    SELECT given.tenant_id, given.id, w.network, w.wallet_id, 'ready', ${keys.currentId}, decode(given.mac, 'hex') FROM unnest(
      ${begun.map(({ transaction }) => transaction.tenantId)}::uuid[], ${begun.map(({ transaction }) => transaction.id)}::uuid[],
      ${begun.map(({ transaction }) => transaction.sourceAccountId)}::uuid[], ${macs}::text[]
    ) AS given (tenant_id, id, wallet_id, mac)
    CROSS JOIN LATERAL (
      SELECT w.network, w.wallet_id FROM chain_wallets w
      WHERE w.tenant_id = given.tenant_id AND w.wallet_id = given.wallet_id LIMIT 1) AS w
  `);
}
