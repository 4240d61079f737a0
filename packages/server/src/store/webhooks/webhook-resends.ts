import type { FailedFilter, ResendRequest, ResendStore, Resent } from "../../app/webhooks/delivery.js";
import { appendAudit } from "../access/audit.js";
import type { Database, Queryable } from "../core/database.js";
import { idAt } from "../core/id-at.js";
import { insertOrFind } from "../core/rows/insert-or-find.js";
import { type Statement, sql } from "../core/sql.js";
import { findAnswer, reserveKey, settleKey } from "./keyed-requests.js";
import { newDeliveryId } from "./webhook-queue.js";

export function createResendStore(database: Database): ResendStore {
  /** Acts once for each idempotency key, with an audit entry; `act` returns undefined if there is nothing to act on. */
  const once = <Answer extends object, Nothing extends undefined = never>(
    resend: ResendRequest,
    act: (tx: Queryable) => Promise<Answer | Nothing>,
  ): Promise<Resent<Answer> | Nothing> =>
    database.transaction(async (tx) => {
      const keyed = { ...resend, occurredAt: resend.audit.occurredAt };
      const earlier = await insertOrFind(
        () => reserveKey(tx, keyed),
        () => findAnswer<Answer>(tx, keyed),
      );
      if (earlier !== undefined) return earlier;
      const answer = await act(tx);
      // A refused request does not use up its key.
      await settleKey(tx, keyed, answer);
      if (answer === undefined) return answer;
      await appendAudit(tx, [resend.audit]);
      return { answer };
    });
  return {
    resendOne: (resend, deliveryId) =>
      once<{ delivery_id: string }, undefined>(resend, (tx) => repeatOne(tx, resend, deliveryId)),
    resendFailed: (resend, filter, limit) =>
      once<{ resent: number }>(resend, (tx) => repeatFailed(tx, resend, filter, limit)),
    replayEvents: (resend, endpointId, from, limit) =>
      once<{ resent: number; next_sequence: number | null }>(resend, (tx) =>
        repeatEvents(tx, resend, endpointId, from, limit),
      ),
  };
}

const insertRepeats = sql`
  INSERT INTO pending_deliveries (tenant_id, id, endpoint_id, sequence, event, repeats, due_at)
`;

/** Repeats are never first attempts: their sequence is an old one. They are due at once, in the order of the log. */
async function repeatOne(
  tx: Queryable,
  { tenantId, audit: { occurredAt } }: ResendRequest,
  deliveryId: string,
): Promise<{ delivery_id: string } | undefined> {
  const newId = newDeliveryId(sql`${occurredAt}::timestamptz`, sql`d.sequence`);
  const [row] = await tx.query<{ id: string }>(sql`
    WITH original AS (
      SELECT endpoint_id, sequence, event FROM pending_deliveries WHERE tenant_id = ${tenantId} AND id = ${deliveryId}
      UNION ALL
      SELECT endpoint_id, sequence, event FROM finished_deliveries WHERE tenant_id = ${tenantId} AND id = ${deliveryId}
    ), marked AS (
      UPDATE finished_deliveries SET resent = true WHERE tenant_id = ${tenantId} AND id = ${deliveryId}
    )
    ${insertRepeats}
    SELECT ${tenantId}, ${newId}, d.endpoint_id, d.sequence, d.event, ${deliveryId}, ${occurredAt}
    FROM original d ${toLiveEndpoint(tenantId)}
    RETURNING id
  `);
  return row && { delivery_id: row.id };
}

/** Served by finished_deliveries_to_resend, oldest first. */
async function repeatFailed(
  tx: Queryable,
  { tenantId, audit: { occurredAt } }: ResendRequest,
  { endpointId, createdAfter, createdBefore }: FailedFilter,
  limit: number,
): Promise<{ resent: number }> {
  let where = sql`d.tenant_id = ${tenantId} AND d.state = 'exhausted' AND NOT d.resent`;
  if (endpointId !== undefined) where = sql`${where} AND d.endpoint_id = ${endpointId}`;
  if (createdAfter !== undefined) where = sql`${where} AND d.id >= ${idAt(createdAfter)}`;
  if (createdBefore !== undefined) where = sql`${where} AND d.id < ${idAt(createdBefore)}`;
  const newId = newDeliveryId(sql`${occurredAt}::timestamptz`, sql`d.sequence`);
  const rows = await tx.query(sql`
    WITH failed AS (
      SELECT d.id FROM finished_deliveries d ${toLiveEndpoint(tenantId)} WHERE ${where}
      ORDER BY d.id LIMIT ${limit} FOR UPDATE OF d SKIP LOCKED
    ), d AS (
      UPDATE finished_deliveries f SET resent = true FROM failed WHERE f.tenant_id = ${tenantId} AND f.id = failed.id
      RETURNING f.id, f.endpoint_id, f.sequence, f.event
    )
    ${insertRepeats}
    SELECT ${tenantId}, ${newId}, d.endpoint_id, d.sequence, d.event, d.id, ${occurredAt} FROM d
    RETURNING id
  `);
  return { resent: rows.length };
}

/** The events are a range of their primary key; the first delivery of each, which is repeated, is found by its sequence. */
async function repeatEvents(
  tx: Queryable,
  { tenantId, audit: { occurredAt } }: ResendRequest,
  endpointId: string,
  from: number,
  limit: number,
): Promise<{ resent: number; next_sequence: number | null }> {
  const newId = newDeliveryId(sql`${occurredAt}::timestamptz`, sql`d.sequence`);
  const [row] = await tx.query<{ resent: number; last: string | null; looked: number }>(sql`
    WITH d AS (
      SELECT v.sequence, v.event, ${endpointId}::uuid AS endpoint_id FROM events v
      WHERE v.tenant_id = ${tenantId} AND v.sequence >= ${from} ORDER BY v.sequence LIMIT ${limit}
    ), repeated AS (
      ${insertRepeats}
      SELECT ${tenantId}, ${newId}, d.endpoint_id, d.sequence, d.event, (
          SELECT first.id FROM (
            SELECT f.id FROM finished_deliveries f
            WHERE f.tenant_id = ${tenantId} AND f.sequence = d.sequence AND f.endpoint_id = ${endpointId}
            UNION ALL
            SELECT p.id FROM pending_deliveries p
            WHERE p.tenant_id = ${tenantId} AND p.sequence = d.sequence AND p.endpoint_id = ${endpointId}
          ) AS first ORDER BY first.id LIMIT 1
        ), ${occurredAt}
      FROM d ${toLiveEndpoint(tenantId)} WHERE e.events && ARRAY['*', d.event]
      RETURNING id
    )
    SELECT (SELECT count(*)::integer FROM repeated) AS resent, max(sequence) AS last, count(*)::integer AS looked FROM d
  `);
  const hasMore = row !== undefined && row.looked === limit && row.last !== null;
  return { resent: row?.resent ?? 0, next_sequence: hasMore ? Number(row.last) + 1 : null };
}

/** Nothing is sent to an endpoint that was deleted. */
function toLiveEndpoint(tenantId: string): Statement {
  return sql`JOIN webhook_endpoints e ON e.tenant_id = ${tenantId} AND e.id = d.endpoint_id AND e.state <> 'deleted'`;
}
