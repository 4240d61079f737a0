import type { TransactionKey } from "../../app/transactions/settlement.js";
import type { Queryable } from "../core/database.js";
import { sql } from "../core/sql.js";

/** Asks the driver for a replacement with higher fees; false if the payment is not waiting for a block. Served by the primary key. */
export async function requestSpeedUp(
  source: Queryable,
  { tenantId, id }: TransactionKey,
  clientId: string,
): Promise<boolean> {
  const rows = await source.query(sql`
    UPDATE chain_payments SET speed_up_requested = true, speed_up_requested_by = ${clientId}
    WHERE tenant_id = ${tenantId} AND transaction_id = ${id} AND stage = 'signed' AND purpose <> 'cancellation'
    RETURNING transaction_id
  `);
  return rows.length > 0;
}
