import type { Earlier, IdempotentRequest } from "../../app/requests/idempotency.js";
import type { Queryable } from "../core/database.js";
import { findByKey } from "../core/rows/insert-or-find.js";
import { sql } from "../core/sql.js";

/**
 * A request that creates no single row, or one that is removed at some time, so that its idempotency key is stored in a table of its own, with
 * its answer.
 */
export interface KeyedRequest {
  tenantId: string;
  /** The scope of the key, together with the tenant. */
  action: string;
  /** Undefined if the request has no key. */
  request: IdempotentRequest | undefined;
  occurredAt: Date;
}

/** The key's row is written first, so that of two equal requests one waits for the other. Served by the primary key. */
export async function reserveKey(
  tx: Queryable,
  { tenantId, action, request, occurredAt }: KeyedRequest,
): Promise<boolean> {
  if (request === undefined) return true;
  const inserted = await tx.query(sql`
    INSERT INTO webhook_resends (tenant_id, action, idempotency_key, request_hash, answer, created_at)
    VALUES (${tenantId}, ${action}, ${request.key}, decode(${request.hash}, 'hex'), 'null', ${occurredAt})
    ON CONFLICT DO NOTHING RETURNING tenant_id
  `);
  return inserted.length === 1;
}

export async function findAnswer<Answer>(
  tx: Queryable,
  { tenantId, action, request }: KeyedRequest,
): Promise<Earlier<Answer> | undefined> {
  const table = { columns: sql`answer`, table: sql`webhook_resends`, scope: sql`AND action = ${action}` };
  const found = await findByKey<{ answer: Answer }>(tx, table, tenantId, request?.key);
  return found && { earlier: found.answer, requestHash: found.requestHash };
}

/** Stores the answer under the key. A request that was refused, without an answer, does not use up its key. */
export async function settleKey(
  tx: Queryable,
  { tenantId, action, request }: KeyedRequest,
  answer: object | undefined,
): Promise<void> {
  if (request === undefined) return;
  const own = sql`WHERE tenant_id = ${tenantId} AND action = ${action} AND idempotency_key = ${request.key}`;
  await tx.query(
    answer === undefined
      ? sql`DELETE FROM webhook_resends ${own}`
      : sql`UPDATE webhook_resends SET answer = ${JSON.stringify(answer)} ${own}`,
  );
}
