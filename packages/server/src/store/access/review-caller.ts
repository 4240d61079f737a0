import type { CallerReview } from "../../app/clients/client.js";
import type { Refused } from "../../app/requests/refused.js";
import { requireKeys, type Tx } from "../core/database.js";
import { sql } from "../core/sql.js";
import { findClientOfTenant } from "./read-client.js";
import { lastStop, readStanding } from "./stops/stop-records.js";

/**
 * Locks the client that is to be changed, and its caller against changes. Not by FOR SHARE: PostgreSQL lets further shared locks in before
 * somebody who waits to change the row, so a caller that changes others all the time could not be disabled. Its changes are appended to one
 * audit log and wait for each other anyway. In the order of their ids, so that two clients that change
 * each other do not wait for each other. Served by the primary key.
 */
export function lockClients(tx: Tx, tenantId: string, id: string, callerId: string | undefined): void {
  const lockTarget = sql`SELECT FROM clients WHERE tenant_id = ${tenantId} AND id = ${id} FOR UPDATE`;
  if (callerId === undefined || callerId === id) {
    tx.send(lockTarget);
    return;
  }
  const lockCaller = sql`SELECT FROM clients WHERE tenant_id = ${tenantId} AND id = ${callerId} FOR NO KEY UPDATE`;
  const inOrder = callerId < id ? [lockCaller, lockTarget] : [lockTarget, lockCaller];
  for (const lock of inOrder) tx.send(lock);
}

/**
 * Reviews the caller of a change as it is in this SQL transaction. Its row stays locked, so that it cannot be disabled or reset before
 * the change is committed. Served by the primary keys of clients, tenants, stop_records and revoked_tokens.
 */
export async function reviewCaller(
  tx: Tx,
  tenantId: string,
  caller: CallerReview | undefined,
): Promise<Refused | undefined> {
  if (caller === undefined) return undefined;
  tx.send(
    sql`SELECT FROM clients WHERE tenant_id = ${tenantId} AND id = ${caller.clientId} FOR NO KEY UPDATE`,
  );
  return await judgeCaller(tx, tenantId, caller);
}

/**
 * The same without a lock: for a SQL transaction that holds something which a change of the caller would wait for, or that must not lock
 * clients any more.
 */
export async function judgeCaller(
  tx: Tx,
  tenantId: string,
  caller: CallerReview,
): Promise<Refused | undefined> {
  const client = await findClientOfTenant(tx, tenantId, caller.clientId);
  const [row] = await tx.query<{ isSuspended: boolean; last: string | null; revokedTokenIds: string[] }>(sql`
    SELECT t.suspended_at IS NOT NULL AS "isSuspended", ${lastStop(sql`t.id`, sql`t.id`)} AS last, ARRAY(
        SELECT token_id::text FROM revoked_tokens
        WHERE tenant_id = ${tenantId} AND client_id = ${caller.clientId}) AS "revokedTokenIds"
    FROM tenants t WHERE t.id = ${tenantId}
  `);
  const subject = { tenantId, subjectId: tenantId };
  const isSuspended =
    row?.isSuspended === true || readStanding(requireKeys(tx), subject, row?.last ?? null) !== "free";
  return caller.review({ client, isSuspended, revokedTokenIds: new Set(row?.revokedTokenIds) });
}
