import type { ApprovalStore } from "../../app/transactions/decide-approval.js";
import { appendAudit } from "../access/audit.js";
import type { Database } from "../core/database.js";
import { sql } from "../core/sql.js";
import type { EventLog } from "../events/events.js";

/** A decision is due at once, whatever the clocks of the processes that look at it say. */
export function createApprovalStore(database: Database, log: EventLog): ApprovalStore {
  return {
    recordApproval: (tenantId, transactionId, { clientId, decision, comment, decidedAt }, audit) =>
      database.transaction(async (tx) => {
        // The engine holds this row while it decides; the second of two finds it as the first has left it.
        const [open] = await tx.query<{ version: number }>(sql`
          SELECT version FROM open_transactions
          WHERE tenant_id = ${tenantId} AND id = ${transactionId} AND state = 'awaiting_approval' FOR UPDATE
        `);
        if (open === undefined) return "closed";
        const version = open.version + 1;
        const recorded = await tx.query(sql`
          INSERT INTO approvals (tenant_id, transaction_id, version, client_id, decision, comment, decided_at)
          SELECT ${tenantId}, ${transactionId}, ${version}, ${clientId}, ${decision}, ${comment}, ${decidedAt}
          WHERE NOT EXISTS (
            SELECT FROM approvals WHERE tenant_id = ${tenantId} AND transaction_id = ${transactionId}
              AND client_id = ${clientId} AND decision = ${decision})
          RETURNING version
        `);
        if (recorded.length === 0) {
          // The client may have been disabled when its decision was counted, and may be enabled again.
          tx.send(sql`
            UPDATE open_transactions SET due_at = '-infinity' WHERE tenant_id = ${tenantId} AND id = ${transactionId}
          `);
          return "repeated";
        }
        tx.send(sql`
          UPDATE open_transactions SET version = ${version}, due_at = '-infinity'
          WHERE tenant_id = ${tenantId} AND id = ${transactionId}
        `);
        await appendAudit(tx, [audit]);
        await log.append(tx, [
          {
            tenantId,
            event: "transaction.updated",
            subjectId: transactionId,
            version,
            state: "awaiting_approval",
            previousState: "awaiting_approval",
            failureCode: null,
            occurredAt: decidedAt,
            actorId: clientId,
          },
        ]);
        return "recorded";
      }),
  };
}

/**
 * Lets the engine look again at what a client has approved and what still waits; whether there is anything. Served by
 * open_transactions_due: few wait for people at any time.
 */
export async function lookAgainAtApproved(
  database: Database,
  { tenantId, clientId }: { tenantId: string; clientId: string },
): Promise<boolean> {
  const waiting = await database.query(sql`
    UPDATE open_transactions o SET due_at = '-infinity'
    WHERE o.tenant_id = ${tenantId} AND o.state = 'awaiting_approval' AND EXISTS (
      SELECT FROM approvals a WHERE a.tenant_id = o.tenant_id AND a.transaction_id = o.id
        AND a.client_id = ${clientId} AND a.decision = 'approve')
    RETURNING o.id
  `);
  return waiting.length > 0;
}
