import {
  countsTowardsLimits,
  type TransactionState,
  transactionStates,
  type UsageByWindow,
  type UsageWindow,
} from "@bursar/domain";
import type { OnHistoryRead } from "../../app/policy/usage.js";
import type { Queryable } from "../core/database.js";
import { joinByKey } from "../core/rows/locate-rows.js";
import { type Statement, sql } from "../core/sql.js";

/**
 * What counts towards limits, read from the event log of a tenant. The log is gapless and in commit order and its past never changes, so
 * a window is filled by going through it once: what was allowed is added, and what ended without being completed is subtracted from the
 * bucket that had counted it.
 */

/** More events than this are not summed for one answer. */
const historyMax = 20_000;
/** The times in a log are in order up to what a statement waits for locks, and a step of the clock. */
const disorderMs = 600_000;

/** A window that has no buckets has too many events in its period to be summed at once. */
export class HistoryTooLongError extends Error {}

const states = Object.keys(transactionStates) as TransactionState[];
const counting = states.filter(countsTowardsLimits);
const ended = states.filter((state) => transactionStates[state].final && !countsTowardsLimits(state));
/** With these an order is rejected before it is admitted, so it was never counted. */
const failuresBeforeAdmission = [
  "INSUFFICIENT_FUNDS",
  "WALLET_FROZEN",
  "CLIENT_DISABLED",
  "POLICY_REJECTED",
  "TOO_MANY_OPEN_ORDERS",
  "PRICE_OUT_OF_BAND",
];

/** The events of a tenant after a sequence, as the `slice` that `countedInSlice` reads. Served by the primary key. */
export function sliceOfLog(tenantId: string, after: number, limit: number): Statement {
  return sql`slice AS MATERIALIZED (
    SELECT tenant_id, sequence, event, subject_id AS id, version, state, previous_state, failure_code, occurred_at
    FROM events WHERE tenant_id = ${tenantId} AND sequence > ${after} ORDER BY sequence LIMIT ${limit})`;
}

/**
 * The entries of a slice, a negative one for what was taken back. An order counts when it is admitted, which has no event; its first event
 * follows within moments. Served by primary keys and events_by_subject.
 */
export const countedInSlice = sql`
  SELECT s.tenant_id, s.sequence, t.client_id, t.source_account_id AS wallet_id, t.asset, sign.count * t.amount AS amount,
    sign.count, CASE sign.count WHEN 1 THEN s.occurred_at ELSE (
      SELECT e.occurred_at FROM events e WHERE e.tenant_id = s.tenant_id AND e.subject_id = s.id AND e.version = 2) END AS at
  FROM slice s
  ${joinByKey(sql`transactions`, sql`t`, sql`s`)}
  CROSS JOIN LATERAL (SELECT CASE s.previous_state WHEN 'accepted' THEN 1 ELSE -1 END AS count) AS sign
  WHERE s.event = 'transaction.updated' AND t.kind <> 'deposit'
    AND s.state = ANY (CASE sign.count WHEN 1 THEN ${counting}::text[] ELSE ${ended}::text[] END)
  UNION ALL
  SELECT s.tenant_id, s.sequence, o.client_id, o.wallet_id, CASE o.side WHEN 'buy' THEN m.quote ELSE m.base END,
    coalesce(o.quote_size, o.size * CASE o.side WHEN 'buy' THEN o.price * m.tick_lot_units ELSE m.lot_units END), 1, s.occurred_at
  FROM slice s
  ${joinByKey(sql`orders`, sql`o`, sql`s`)}
  JOIN markets m ON m.market = o.market
  WHERE s.event = 'order.updated' AND s.version = 2
    AND NOT (s.state = 'rejected' AND s.failure_code = ANY (${failuresBeforeAdmission}::text[]))`;

/** Orders of a tenant that are admitted and have no event yet: a bounded number, because no command of them was executed. */
export function admittedOrders(tenantId: string, at: Date): Statement {
  return sql`
    SELECT p.tenant_id, 0::bigint AS sequence, o.client_id, o.wallet_id, CASE o.side WHEN 'buy' THEN m.quote ELSE m.base END AS asset,
      p.held AS amount, 1 AS count, ${at}::timestamptz AS at
    FROM (SELECT * FROM open_orders WHERE tenant_id = ${tenantId} AND sequence IS NOT NULL AND version = 1 OFFSET 0) AS p
    ${joinByKey(sql`orders`, sql`o`, sql`p`)}
    JOIN markets m ON m.market = o.market`;
}

/** A sequence of the log before which nothing is as late as this time: a binary search. Served by the primary key. */
export async function lastSequenceBefore(source: Queryable, tenantId: string, since: Date): Promise<number> {
  const from = since.getTime() - disorderMs;
  let after = 0;
  let upTo = await readHead(source, tenantId);
  while (after < upTo) {
    const middle = Math.floor((after + upTo) / 2);
    const [next] = await source.query<{ sequence: string; occurredAt: Date }>(sql`
      SELECT sequence, occurred_at AS "occurredAt" FROM events
      WHERE tenant_id = ${tenantId} AND sequence > ${middle} ORDER BY sequence LIMIT 1
    `);
    if (next === undefined || next.occurredAt.getTime() >= from) upTo = middle;
    else after = Number(next.sequence);
  }
  return after;
}

/** Served by the primary key. */
export async function readHead(source: Queryable, tenantId: string): Promise<number> {
  const [head] = await source.query<{ sequence: string }>(
    sql`SELECT sequence FROM event_sequences WHERE tenant_id = ${tenantId}`,
  );
  return Number(head?.sequence ?? 0);
}

/**
 * The usage of windows of a tenant that have no buckets, by their keys. All of them are summed in one pass over the longest period: 50
 * windows that were read one after the other took 3.5 s of PostgreSQL over 7,000 events. Served by the primary keys.
 */
export async function readHistory(
  source: Queryable,
  tenantId: string,
  windows: readonly UsageWindow[],
  now: Date,
  onRead?: OnHistoryRead,
): Promise<UsageByWindow> {
  const sinceOf = ({ periodSeconds }: UsageWindow) => new Date(now.getTime() - periodSeconds * 1000);
  const longestSeconds = Math.max(...windows.map(({ periodSeconds }) => periodSeconds));
  const after = await lastSequenceBefore(source, tenantId, new Date(now.getTime() - longestSeconds * 1000));
  const rows = await source.query<{ key: string; events: number; sum: string; count: string }>(sql`
    WITH ${sliceOfLog(tenantId, after, historyMax + 1)},
    counted AS MATERIALIZED (${countedInSlice} UNION ALL ${admittedOrders(tenantId, now)})
    SELECT asked.key, (SELECT count(*)::integer FROM slice) AS events, used.sum, used.count
    FROM unnest(
      ${windows.map(({ key }) => key)}::text[], ${windows.map(({ per }) => per)}::text[],
      ${windows.map(({ id }) => id)}::uuid[], ${windows.map(({ asset }) => asset)}::text[],
      ${windows.map(sinceOf)}::timestamptz[]
    ) AS asked (key, per, scope_id, asset, since)
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(c.amount), 0) AS sum, coalesce(sum(c.count), 0) AS count FROM counted c
      WHERE CASE asked.per WHEN 'wallet' THEN c.wallet_id WHEN 'client' THEN c.client_id ELSE c.tenant_id END = asked.scope_id
        AND (asked.asset IS NULL OR c.asset = asked.asset) AND c.at > asked.since) AS used
  `);
  onRead?.(rows[0]?.events ?? 0, windows.length);
  if (rows.some(({ events }) => events > historyMax))
    throw new HistoryTooLongError(
      `the tenant ${tenantId} has more than ${historyMax} events in ${longestSeconds} seconds`,
    );
  const sums = new Set(windows.flatMap(({ key, asset }) => (asset === null ? [] : [key])));
  return new Map(
    rows.map(({ key, sum, count }) => [key, { sum: sums.has(key) ? BigInt(sum) : 0n, count: BigInt(count) }]),
  );
}
