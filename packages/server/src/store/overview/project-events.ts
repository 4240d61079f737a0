import type { Tx } from "../core/database.js";
import { type Statement, sql } from "../core/sql.js";

/** The events of a log after one position and up to another. */
export interface LogSlice {
  tenantId: string;
  from: bigint;
  to: bigint;
}

/** The fence keeps the order: each slice is a range of the primary key. */
function eventsOf(slices: readonly LogSlice[]): Statement {
  return sql`
    SELECT e.* FROM unnest(
      ${slices.map(({ tenantId }) => tenantId)}::uuid[], ${slices.map(({ from }) => from.toString())}::bigint[],
      ${slices.map(({ to }) => to.toString())}::bigint[]) AS given (tenant_id, least, greatest)
    CROSS JOIN LATERAL (
      SELECT tenant_id, sequence, event, subject_id, version, state, previous_state, occurred_at, details FROM events
      WHERE tenant_id = given.tenant_id AND sequence > given.least AND sequence <= given.greatest
        AND event IN ('transaction.updated', 'order.updated') OFFSET 0) e`;
}

/**
 * The changes of wallets. The event that ends a transaction stands for its entries in the ledger. The event of an order says how much
 * was traded so far, so the difference to the event before it is what it has moved: a buyer pays the fee in the base asset, a seller in
 * the quote asset. Served by primary keys and events_by_subject.
 */
const moved = sql`
    SELECT s.tenant_id, s.sequence, s.occurred_at, 'transaction' AS cause, s.subject_id AS cause_id,
      (2 * l.line + side.number)::smallint AS line, side.account_id, l.asset, side.amount
    FROM slice s CROSS JOIN LATERAL (
      SELECT line, debit_account_id, credit_account_id, asset, amount FROM ledger_entries
      WHERE tenant_id = s.tenant_id AND transaction_id = s.subject_id) l
    CROSS JOIN LATERAL (
      VALUES (0, l.debit_account_id, -l.amount), (1, l.credit_account_id, l.amount)) AS side (number, account_id, amount)
    WHERE s.event = 'transaction.updated' AND s.state IN ('completed', 'failed', 'cancelled', 'rejected')
    UNION ALL
    SELECT s.tenant_id, s.sequence, s.occurred_at, 'order', s.subject_id, side.number::smallint, o.wallet_id, side.asset, side.amount
    FROM slice s CROSS JOIN LATERAL (
      SELECT wallet_id, market, side FROM orders WHERE tenant_id = s.tenant_id AND id = s.subject_id LIMIT 1) o
    CROSS JOIN LATERAL (SELECT base, quote, lot_units FROM markets WHERE market = o.market LIMIT 1) m
    LEFT JOIN LATERAL (
      SELECT details FROM events WHERE tenant_id = s.tenant_id AND subject_id = s.subject_id AND version = s.version - 1 LIMIT 1
    ) p ON true
    CROSS JOIN LATERAL (
      SELECT m.lot_units * (coalesce((s.details ->> 'filled')::numeric, 0) - coalesce((p.details ->> 'filled')::numeric, 0)) AS base,
        coalesce((s.details ->> 'quote_filled')::numeric, 0) - coalesce((p.details ->> 'quote_filled')::numeric, 0) AS quote,
        coalesce((s.details ->> 'fee')::numeric, 0) - coalesce((p.details ->> 'fee')::numeric, 0) AS fee) d
    CROSS JOIN LATERAL (
      SELECT 1 AS number, m.base AS asset, CASE o.side WHEN 'buy' THEN d.base - d.fee ELSE -d.base END AS amount
      UNION ALL SELECT 2, m.quote, CASE o.side WHEN 'buy' THEN -d.quote ELSE d.quote - d.fee END) side
    WHERE s.event = 'order.updated' AND side.amount <> 0`;

/**
 * Writes the statements of wallets, their balances by hour and day, and how many transactions have entered and left each state. One
 * statement reads the events of all slices once. What is the same for many events is looked up once: the last balance of a wallet, and
 * whether an account is a wallet, because only wallets have statements. Sums are grouped by hour before they are added to longer periods.
 * Served by primary keys.
 */
export function projectEvents(tx: Tx, slices: readonly LogSlice[]): void {
  tx.send(sql`
    WITH slice AS MATERIALIZED (${eventsOf(slices)}),
    moved AS MATERIALIZED (${moved}),
    opening AS MATERIALIZED (
      SELECT k.tenant_id, k.account_id, k.asset, coalesce((
          SELECT e.balance FROM wallet_entries e
          WHERE e.tenant_id = k.tenant_id AND e.wallet_id = k.account_id AND e.asset = k.asset
          ORDER BY e.sequence DESC, e.line DESC LIMIT 1), 0) AS balance
      FROM (SELECT DISTINCT tenant_id, account_id, asset FROM moved) k CROSS JOIN LATERAL (
        SELECT FROM wallets w WHERE w.tenant_id = k.tenant_id AND w.id = k.account_id LIMIT 1) w),
    balanced AS MATERIALIZED (
      SELECT v.*, o.balance + sum(v.amount) OVER (
          PARTITION BY v.tenant_id, v.account_id, v.asset ORDER BY v.sequence, v.line) AS balance
      FROM moved v JOIN opening o USING (tenant_id, account_id, asset)),
    entries AS (
      INSERT INTO wallet_entries
        (tenant_id, wallet_id, asset, sequence, line, amount, balance, cause, cause_id, occurred_at)
      SELECT tenant_id, account_id, asset, sequence, line, amount, balance, cause, cause_id, occurred_at FROM balanced),
    hours AS MATERIALIZED (
      SELECT tenant_id, account_id, asset, date_trunc('hour', occurred_at, 'UTC') AS start,
        sum(amount) FILTER (WHERE amount > 0) AS received, -sum(amount) FILTER (WHERE amount < 0) AS sent,
        (array_agg(balance ORDER BY sequence DESC, line DESC))[1] AS balance, max(ARRAY[sequence, line]) AS place
      FROM balanced GROUP BY 1, 2, 3, 4),
    balances AS (
      INSERT INTO wallet_periods AS w (tenant_id, wallet_id, asset, period, start, received, sent, balance)
      SELECT h.tenant_id, h.account_id, h.asset, p.period, date_trunc(p.period, h.start, 'UTC'),
        coalesce(sum(h.received), 0), coalesce(sum(h.sent), 0), (array_agg(h.balance ORDER BY h.place DESC))[1]
      FROM hours h CROSS JOIN (VALUES ('hour'), ('day')) AS p (period) GROUP BY 1, 2, 3, 4, 5
      ON CONFLICT (tenant_id, wallet_id, asset, period, start) DO UPDATE SET
        received = w.received + excluded.received, sent = w.sent + excluded.sent, balance = excluded.balance),
    states AS MATERIALIZED (
      SELECT s.tenant_id, date_trunc('hour', s.occurred_at, 'UTC') AS start, s.state, s.previous_state, t.asset,
        count(*) AS count, sum(t.amount) AS amount
      FROM slice s CROSS JOIN LATERAL (
        SELECT asset, amount FROM transactions WHERE tenant_id = s.tenant_id AND id = s.subject_id LIMIT 1) t
      WHERE s.event = 'transaction.updated' GROUP BY 1, 2, 3, 4, 5)
    INSERT INTO transaction_periods AS w
      (tenant_id, period, start, state, asset, entered, entered_amount, left_count, left_amount)
    SELECT s.tenant_id, p.period, ${startOf}, c.state, s.asset, sum(c.entered * s.count), sum(c.entered * s.amount),
      sum((1 - c.entered) * s.count), sum((1 - c.entered) * s.amount)
    FROM states s CROSS JOIN LATERAL (VALUES (s.state, 1), (s.previous_state, 0)) AS c (state, entered)
    CROSS JOIN (VALUES ('hour'), ('day'), ('all')) AS p (period)
    GROUP BY 1, 2, 3, 4, 5
    ON CONFLICT (tenant_id, period, start, state, asset) DO UPDATE SET
      entered = w.entered + excluded.entered, entered_amount = w.entered_amount + excluded.entered_amount,
      left_count = w.left_count + excluded.left_count, left_amount = w.left_amount + excluded.left_amount
  `);
}

const startOf = sql`CASE p.period WHEN 'all' THEN '-infinity'::timestamptz ELSE date_trunc(
  CASE p.period WHEN 'all' THEN 'hour' ELSE p.period END, s.start, 'UTC') END`;
