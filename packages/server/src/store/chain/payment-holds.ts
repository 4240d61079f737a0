import { isCancelledByStop, isCancelRecorded, isStopped } from "../access/stops/stop-records.js";
import { type Statement, sql } from "../core/sql.js";
import { hasRow, isDelisted } from "./wallets/removed-addresses.js";

/*
 * What can keep the payment `p` from being paid: a row of chain_payments. The rows of tenants, clients and wallets say so, or the records of
 * stops. Each is a look into an index. Whether the end of a stop is authentic is checked where a payment is signed or sent.
 */

const clientId = sql`(
  SELECT t.client_id FROM transactions t WHERE t.tenant_id = p.tenant_id AND t.id = p.transaction_id)`;

export const isSuspended: Statement = sql`(
  ${hasRow(sql`tenants s WHERE s.id = p.tenant_id AND s.suspended_at IS NOT NULL`)}
  OR ${isStopped(sql`p.tenant_id`, sql`p.tenant_id`)})`;

export const isDisabled: Statement = sql`(
  ${hasRow(sql`clients c WHERE c.state = 'disabled' AND c.id = ${clientId}`)} OR ${isStopped(sql`p.tenant_id`, clientId)}
  OR ${hasRow(sql`transactions t WHERE t.tenant_id = p.tenant_id AND t.id = p.transaction_id AND ${isCancelledByStop(sql`t`)}`)})`;

export const isFrozen: Statement = sql`(
  ${hasRow(sql`wallets z WHERE z.tenant_id = p.tenant_id AND z.id = p.wallet_id AND z.frozen`)}
  OR ${isStopped(sql`p.tenant_id`, sql`p.wallet_id`)})`;

/** Whether a freeze of the source waits for its lock: nothing is paid then, and nothing is stopped before it is committed. */
export const isFreezing: Statement = hasRow(sql`requested_freezes r
  WHERE r.tenant_id = p.tenant_id AND r.wallet_id = p.wallet_id AND r.until > now() AND r.until < now() + interval '1 minute'`);

/** What is recorded counts too: a writer to the database can take the request back in the row, and the payment would be sent again. */
export const isCancelRequested: Statement = sql`(
  ${hasRow(sql`open_transactions o WHERE o.tenant_id = p.tenant_id AND o.id = p.transaction_id AND o.cancel_requested`)}
  OR ${isCancelRecorded(sql`p.tenant_id`, sql`p.transaction_id`)})`;

export const isExpired: Statement = hasRow(
  sql`transactions t WHERE t.tenant_id = p.tenant_id AND t.id = p.transaction_id AND t.expires_at <= now()`,
);

/** Whether `p`, which is signed, gets no other attempt that pays. */
export const isStoppedOrWaits: Statement = sql`(${isCancelRequested} OR ${isFrozen} OR ${isSuspended} OR ${isDisabled})`;

export const holdColumns: Statement = sql`${isFrozen} AS "isFrozen", ${isSuspended} AS "isSuspended", ${isDisabled} AS "isDisabled"`;

/** Also served by destinations_removed and destinations_listed. */
export const unsignedHoldColumns: Statement = sql`
  ${isCancelRequested} AS "cancelRequested", ${holdColumns}, ${isDelisted} AS "isDelisted", ${isExpired} AS "isExpired"`;
