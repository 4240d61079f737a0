import type { AuditDraft } from "../../app/audit/audit-entry.js";
import type { SpeedUpFacts } from "../../app/chain/speed-up.js";
import type { TransactionKey } from "../../app/transactions/settlement.js";
import { appendAudit } from "../access/audit.js";
import type { Database, Queryable } from "../core/database.js";
import { sql } from "../core/sql.js";
import { holdColumns, isCancelRequested, isFreezing } from "./payment-holds.js";
import { freeNonce } from "./wallets/free-nonce.js";

/** What is known of a payment that waits for a block; undefined for any other. Served by primary keys, chain_payments_open and the unique key of nonces. */
export async function readSpeedUpFacts(
  source: Queryable,
  { tenantId, id }: TransactionKey,
): Promise<SpeedUpFacts | undefined> {
  const [facts] = await source.query<SpeedUpFacts>(sql`
    SELECT ${isCancelRequested} OR p.purpose = 'cancellation' AS "cancelRequested", ${holdColumns}, ${isFreezing} AS "isFreezing", (
        SELECT f.transaction_id FROM chain_payments f
        WHERE f.network = p.network AND f.wallet_id = p.wallet_id AND f.stage IN ('assigned', 'signed') AND f.nonce < p.nonce
        ORDER BY f.network, f.wallet_id, f.nonce LIMIT 1) AS "behindId",
      ${freeNonce} < p.nonce AS "waitsForFree"
    FROM chain_payments p JOIN chain_wallets w ON w.tenant_id = p.tenant_id AND w.wallet_id = p.wallet_id
    WHERE p.tenant_id = ${tenantId} AND p.transaction_id = ${id} AND p.stage = 'signed'
  `);
  return facts;
}

/** Asks the driver for a replacement with higher fees; false if the payment is not waiting for a block any more. Served by the primary key. */
export function requestSpeedUp(
  database: Database,
  { tenantId, id }: TransactionKey,
  clientId: string,
  audit: AuditDraft,
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const rows = await tx.query(sql`
      UPDATE chain_payments SET speed_up_requested = true, speed_up_requested_by = ${clientId}
      WHERE tenant_id = ${tenantId} AND transaction_id = ${id} AND stage = 'signed' AND purpose <> 'cancellation'
      RETURNING transaction_id
    `);
    if (rows.length > 0) await appendAudit(tx, [audit]);
    return rows.length > 0;
  });
}
