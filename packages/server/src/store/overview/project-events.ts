import type { Tx } from "../core/database.js";
import { type Statement, sql } from "../core/sql.js";

/** The events of a log after one position and up to another. */
export interface LogSlice {
  tenantId: string;
  from: bigint;
  to: bigint;
}

/** Served by the primary key. */
function sliceOf({ tenantId, from, to }: LogSlice): Statement {
  return sql`
    SELECT sequence, event, subject_id, version, state, previous_state, occurred_at, details FROM events
    WHERE tenant_id = ${tenantId} AND sequence > ${from.toString()} AND sequence <= ${to.toString()}`;
}

/**
 * The changes of wallets. The event that ends a transaction stands for its entries in the ledger. The event of an order says how much
 * was traded so far, so the difference to the event before it is what it has moved: a buyer pays the fee in the base asset, a seller in
 * the quote asset. Served by primary keys and events_by_subject.
 */
function movedBy(tenantId: string): Statement {
  return sql`
    SELECT s.sequence, s.occurred_at, 'transaction' AS cause, s.subject_id AS cause_id,
      (2 * l.line + side.number)::smallint AS line, side.account_id, l.asset, side.amount
    FROM slice s CROSS JOIN LATERAL (
      SELECT line, debit_account_id, credit_account_id, asset, amount FROM ledger_entries
      WHERE tenant_id = ${tenantId} AND transaction_id = s.subject_id) l
    CROSS JOIN LATERAL (
      VALUES (0, l.debit_account_id, -l.amount), (1, l.credit_account_id, l.amount)) AS side (number, account_id, amount)
    WHERE s.event = 'transaction.updated' AND s.state IN ('completed', 'failed', 'cancelled', 'rejected')
    UNION ALL
    SELECT s.sequence, s.occurred_at, 'order', s.subject_id, side.number::smallint, o.wallet_id, side.asset, side.amount
    FROM slice s CROSS JOIN LATERAL (
      SELECT wallet_id, market, side FROM orders WHERE tenant_id = ${tenantId} AND id = s.subject_id LIMIT 1) o
    CROSS JOIN LATERAL (SELECT base, quote, lot_units FROM markets WHERE market = o.market LIMIT 1) m
    LEFT JOIN LATERAL (
      SELECT details FROM events WHERE tenant_id = ${tenantId} AND subject_id = s.subject_id AND version = s.version - 1 LIMIT 1
    ) p ON true
    CROSS JOIN LATERAL (
      SELECT m.lot_units * (coalesce((s.details ->> 'filled')::numeric, 0) - coalesce((p.details ->> 'filled')::numeric, 0)) AS base,
        coalesce((s.details ->> 'quote_filled')::numeric, 0) - coalesce((p.details ->> 'quote_filled')::numeric, 0) AS quote,
        coalesce((s.details ->> 'fee')::numeric, 0) - coalesce((p.details ->> 'fee')::numeric, 0) AS fee) d
    CROSS JOIN LATERAL (
      SELECT 1 AS number, m.base AS asset, CASE o.side WHEN 'buy' THEN d.base - d.fee ELSE -d.base END AS amount
      UNION ALL SELECT 2, m.quote, CASE o.side WHEN 'buy' THEN -d.quote ELSE d.quote - d.fee END) side
    WHERE s.event = 'order.updated' AND side.amount <> 0`;
}

/** Only wallets have statements. Each row continues the balance of the last one. Served by primary keys. */
export function writeWalletEntries(tx: Tx, slice: LogSlice): void {
  const { tenantId } = slice;
  tx.send(sql`
    WITH slice AS MATERIALIZED (${sliceOf(slice)}),
    moved AS MATERIALIZED (${movedBy(tenantId)}),
    balanced AS MATERIALIZED (
      SELECT v.*, coalesce((
          SELECT e.balance FROM wallet_entries e
          WHERE e.tenant_id = ${tenantId} AND e.wallet_id = v.account_id AND e.asset = v.asset
          ORDER BY e.sequence DESC, e.line DESC LIMIT 1), 0)
        + sum(v.amount) OVER (PARTITION BY v.account_id, v.asset ORDER BY v.sequence, v.line) AS balance
      FROM moved v CROSS JOIN LATERAL (
        SELECT FROM wallets w WHERE w.tenant_id = ${tenantId} AND w.id = v.account_id LIMIT 1) w),
    written AS (
      INSERT INTO wallet_entries
        (tenant_id, wallet_id, asset, sequence, line, amount, balance, cause, cause_id, occurred_at)
      SELECT ${tenantId}, account_id, asset, sequence, line, amount, balance, cause, cause_id, occurred_at FROM balanced)
    INSERT INTO wallet_periods AS w (tenant_id, wallet_id, asset, period, start, received, sent, balance)
    SELECT ${tenantId}, b.account_id, b.asset, p.period, date_trunc(p.period, b.occurred_at, 'UTC'),
      coalesce(sum(b.amount) FILTER (WHERE b.amount > 0), 0), coalesce(-sum(b.amount) FILTER (WHERE b.amount < 0), 0),
      (array_agg(b.balance ORDER BY b.sequence DESC, b.line DESC))[1]
    FROM balanced b CROSS JOIN (VALUES ('hour'), ('day')) AS p (period)
    GROUP BY b.account_id, b.asset, p.period, date_trunc(p.period, b.occurred_at, 'UTC')
    ON CONFLICT (tenant_id, wallet_id, asset, period, start) DO UPDATE SET
      received = w.received + excluded.received, sent = w.sent + excluded.sent, balance = excluded.balance
  `);
}

/** How many transactions entered and left each state, and their amounts. Served by primary keys. */
export function writeTransactionPeriods(tx: Tx, slice: LogSlice): void {
  const { tenantId } = slice;
  tx.send(sql`
    WITH slice AS MATERIALIZED (${sliceOf(slice)})
    INSERT INTO transaction_periods AS w
      (tenant_id, period, start, state, asset, entered, entered_amount, left_count, left_amount)
    SELECT ${tenantId}, p.period, ${startOf}, c.state, t.asset, sum(c.entered), sum(c.entered * t.amount),
      sum(1 - c.entered), sum((1 - c.entered) * t.amount)
    FROM slice s
    CROSS JOIN LATERAL (
      SELECT asset, amount FROM transactions WHERE tenant_id = ${tenantId} AND id = s.subject_id LIMIT 1) t
    CROSS JOIN LATERAL (VALUES (s.state, 1), (s.previous_state, 0)) AS c (state, entered)
    CROSS JOIN (VALUES ('hour'), ('day'), ('all')) AS p (period)
    WHERE s.event = 'transaction.updated'
    GROUP BY p.period, ${startOf}, c.state, t.asset
    ON CONFLICT (tenant_id, period, start, state, asset) DO UPDATE SET
      entered = w.entered + excluded.entered, entered_amount = w.entered_amount + excluded.entered_amount,
      left_count = w.left_count + excluded.left_count, left_amount = w.left_amount + excluded.left_amount
  `);
}

const startOf = sql`CASE p.period WHEN 'all' THEN '-infinity'::timestamptz ELSE date_trunc(
  CASE p.period WHEN 'all' THEN 'hour' ELSE p.period END, s.occurred_at, 'UTC') END`;
