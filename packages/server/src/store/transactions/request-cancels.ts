import type { TransactionKey } from "../../app/transactions/settlement.js";
import { insertCancelRequests } from "../access/stops/stop-records.js";
import type { Tx } from "../core/database.js";
import { type Statement, sql } from "../core/sql.js";

/*
 * Cancellations of transactions that their rails work on. They are recorded too: a writer to the database could take the request back in the row.
 */

/** Served by the primary key. What waits for approval is looked at by the engine, which ends it when that is safe. */
export function requestCancel(tx: Tx, { tenantId, id }: TransactionKey, actorId: string | null): void {
  tx.send(sql`
    UPDATE open_transactions SET cancel_requested = true, cancel_requested_by = coalesce(cancel_requested_by, ${actorId}),
      cancel_requested_at = coalesce(cancel_requested_at, now()),
      due_at = CASE WHEN state = 'awaiting_approval' THEN now() ELSE due_at END,
      retry_at = CASE WHEN last_error IS NULL THEN NULL ELSE retry_at END
    WHERE tenant_id = ${tenantId} AND id = ${id}
  `);
  tx.send(insertCancelRequests(sql`(VALUES (${tenantId}::uuid, ${id}::uuid)) AS given (tenant_id, id)`));
}

/** Of those that rails work on. Served by the primary key. */
export function requestCancels(tenantId: string, ids: readonly string[], actorId: string | null): Statement {
  return sql`
    WITH given AS (
      UPDATE open_transactions SET cancel_requested = true,
        cancel_requested_by = coalesce(cancel_requested_by, ${actorId}), cancel_requested_at = now()
      WHERE tenant_id = ${tenantId} AND id = ANY (${[...ids]}::uuid[])
        AND state IN ('processing', 'broadcast', 'confirming') AND NOT cancel_requested
      RETURNING tenant_id, id)
    ${insertCancelRequests(sql`given`)}
  `;
}
