import type { RailTransaction, RailTransactionStore } from "../../app/rails/rail.js";
import type { Database } from "../core/database.js";
import { sql } from "../core/sql.js";

interface Row extends Omit<RailTransaction, "amount" | "feeHold"> {
  amount: string;
  feeAsset: string | null;
  feeHeld: string;
}

export function createRailTransactionStore(database: Database): RailTransactionStore {
  return {
    // Served by open_transactions_on_rails, primary keys and events_by_subject.
    listOnRail: async (assets, limit, afterId) => {
      const rows = await database.query<Row>(sql`
        SELECT t.tenant_id AS "tenantId", t.id, t.kind, o.state, o.version, t.asset, t.amount,
          t.source_account_id AS "sourceAccountId", t.destination_account_id AS "destinationAccountId",
          t.destination_address AS "destinationAddress", o.fee_asset AS "feeAsset", o.fee_held AS "feeHeld",
          o.cancel_requested AS "cancelRequested", (
            SELECT e.details->>'hash' FROM events e
            WHERE e.tenant_id = t.tenant_id AND e.subject_id = t.id AND e.details->>'hash' IS NOT NULL
            ORDER BY e.version DESC LIMIT 1) AS hash
        FROM open_transactions o JOIN transactions t ON t.tenant_id = o.tenant_id AND t.id = o.id
        WHERE o.state IN ('processing', 'broadcast', 'confirming') AND t.asset = ANY (${[...assets]}::text[])
          ${afterId === undefined ? sql`` : sql`AND o.id > ${afterId}`}
        ORDER BY o.id LIMIT ${limit}
      `);
      return rows.map(({ amount, feeAsset, feeHeld, ...row }) => ({
        ...row,
        amount: BigInt(amount),
        feeHold: feeAsset === null ? null : { asset: feeAsset, amount: BigInt(feeHeld) },
      }));
    },
  };
}
