import { feeAccountId, feeTenantId, marketClearingAccountId } from "@bursar/domain";
import { sql } from "../core/sql.js";
import type { LedgerCheck } from "../ledger/audit-ledger.js";

/** What must hold of orders and trades. Each tenant's books close by themselves; these say that they close with each other too. */
export const marketChecks: readonly LedgerCheck[] = [
  {
    what: "what tenants have given on markets is what tenants were given, fees included",
    violations: sql`
      SELECT asset, sum(available + held)::text AS sum FROM ledger_accounts
      WHERE account_id = ${marketClearingAccountId} GROUP BY asset HAVING sum(available + held) <> 0`,
  },
  {
    what: "every order is either open or final, and never both",
    violations: sql`
      SELECT o.tenant_id, o.id FROM orders o
      LEFT JOIN open_orders p ON p.tenant_id = o.tenant_id AND p.id = o.id
      LEFT JOIN events e ON e.tenant_id = o.tenant_id AND e.subject_id = o.id AND e.state IN ('filled', 'cancelled', 'rejected')
      GROUP BY o.tenant_id, o.id
      HAVING count(DISTINCT p.id) + count(DISTINCT e.sequence) <> 1`,
  },
  {
    what: "every order is filled by the sum of its trades, and has paid the sum of their fees",
    violations: sql`
      WITH sides AS (
        SELECT maker_tenant_id AS tenant_id, maker_order_id AS id, size, maker_fee AS fee FROM trades
        UNION ALL SELECT taker_tenant_id, taker_order_id, size, taker_fee FROM trades),
      traded AS (SELECT tenant_id, id, sum(size) AS size, sum(fee) AS fee FROM sides GROUP BY 1, 2),
      last AS (
        SELECT DISTINCT ON (tenant_id, subject_id) tenant_id, subject_id AS id, details FROM events
        WHERE event = 'order.updated' ORDER BY tenant_id, subject_id, version DESC)
      SELECT tenant_id, id, t.size::text AS traded, l.details FROM traded t FULL JOIN last l USING (tenant_id, id)
      WHERE coalesce(t.size, 0) <> coalesce((l.details ->> 'filled')::numeric, 0)
        OR coalesce(t.fee, 0) <> coalesce((l.details ->> 'fee')::numeric, 0)`,
  },
  {
    what: "every order in a book holds what it can still cost, and no more",
    violations: sql`
      SELECT p.tenant_id, p.id, p.held::text FROM open_orders p JOIN markets m USING (market)
      WHERE p.state IN ('open', 'partially_filled') AND p.held <> (p.size - p.filled)
        * CASE p.side WHEN 'buy' THEN p.price * m.tick_lot_units ELSE m.lot_units END`,
  },
  {
    what: "every trade has moved its size, its cost and its fees",
    violations: sql`
      SELECT t.market, t.sequence::text FROM trades t
      JOIN markets m ON m.market = t.market
      LEFT JOIN ledger_entries l ON l.transaction_id = t.id
      GROUP BY t.market, t.sequence, m.market
      HAVING coalesce(sum(l.amount) FILTER (WHERE l.credit_account_id = ${marketClearingAccountId} AND l.asset = m.base), 0)
          <> t.size * m.lot_units
        OR coalesce(sum(l.amount) FILTER (WHERE l.credit_account_id = ${marketClearingAccountId} AND l.asset = m.quote), 0)
          <> t.price * t.size * m.tick_lot_units
        OR coalesce(sum(l.amount) FILTER (WHERE l.tenant_id = ${feeTenantId} AND l.credit_account_id = ${feeAccountId}
          AND l.asset = CASE t.taker_side WHEN 'buy' THEN m.base ELSE m.quote END), 0) <> t.taker_fee
        OR coalesce(sum(l.amount) FILTER (WHERE l.tenant_id = ${feeTenantId} AND l.credit_account_id = ${feeAccountId}
          AND l.asset = CASE t.taker_side WHEN 'buy' THEN m.quote ELSE m.base END), 0) <> t.maker_fee`,
  },
  {
    what: "the trades of every market have no gap, other than those of a recovery",
    violations: sql`
      SELECT m.market, m.trade_sequence::text AS sequence, count(t.sequence)::text AS trades FROM markets m
      LEFT JOIN trades t USING (market) GROUP BY m.market, m.trade_sequence, m.trades_skipped
      HAVING count(t.sequence) + m.trades_skipped <> m.trade_sequence OR max(t.sequence) > m.trade_sequence`,
  },
  {
    what: "no market has a bid at or above an ask",
    violations: sql`
      SELECT market FROM open_orders WHERE state IN ('open', 'partially_filled') GROUP BY market
      HAVING max(price) FILTER (WHERE side = 'buy') >= min(price) FILTER (WHERE side = 'sell')`,
  },
];
