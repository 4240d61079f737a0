import { describeStop, type RecordedStop, type StoppedPayment } from "../../app/chain/stop-payment.js";
import { operatorActorId } from "../../app/events/actor.js";
import { appendAudit } from "../access/audit.js";
import { isLastByOperator } from "../access/stops/stop-records.js";
import type { Tx } from "../core/database.js";
import { locateRows } from "../core/rows/locate-rows.js";
import { sql } from "../core/sql.js";

/** Who has caused the stop of `p`: who froze the wallet, suspended the tenant or disabled the client. Served by primary keys and events_by_subject. */
const causedBy = sql`CASE given.reason
  WHEN 'WALLET_FROZEN' THEN (
    SELECT e.actor_id FROM events e
    WHERE e.tenant_id = p.tenant_id AND e.subject_id = p.wallet_id
      AND e.state LIKE '%frozen' AND e.previous_state NOT LIKE '%frozen'
    ORDER BY e.version DESC LIMIT 1)
  WHEN 'TENANT_SUSPENDED' THEN ${operatorActorId}::uuid
  WHEN 'CLIENT_DISABLED' THEN (
    SELECT CASE WHEN ${isLastByOperator(sql`c.tenant_id`, sql`c.id`)} THEN ${operatorActorId}::uuid
      ELSE coalesce(c.authority_changed_by, ${operatorActorId}::uuid) END FROM clients c WHERE c.id = (
      SELECT t.client_id FROM transactions t WHERE t.tenant_id = p.tenant_id AND t.id = p.transaction_id))
  END`;

/** The rows were locked before. Served by the primary key. */
export async function stopPayments(tx: Tx, payments: readonly StoppedPayment[], at: Date): Promise<void> {
  if (payments.length === 0) return;
  const stopped = await tx.query<RecordedStop>(sql`
    UPDATE chain_payments p SET stop_reason = given.reason, stopped_by = ${causedBy}
    FROM ${locateRows(
      sql`chain_payments`,
      sql`unnest(
        ${payments.map(({ tenantId }) => tenantId)}::uuid[], ${payments.map(({ id }) => id)}::uuid[],
        ${payments.map(({ reason }) => reason)}::text[]) AS given (tenant_id, id, reason)`,
      sql`r.tenant_id = given.tenant_id AND r.transaction_id = given.id`,
    )} AS given
    WHERE p.ctid = given.place AND p.stop_reason IS NULL
    RETURNING p.tenant_id AS "tenantId", p.transaction_id AS id, p.stop_reason AS reason, p.stopped_by AS "stoppedBy"
  `);
  await appendAudit(
    tx,
    stopped.flatMap((stop) => describeStop(stop, at)),
  );
}
