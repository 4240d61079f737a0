import type { Database, Queryable } from "../core/database.js";
import { type Statement, sql } from "../core/sql.js";
import { marketChecks } from "../markets/audit-markets.js";

/** One thing that must hold in the books, and a query that finds where it does not. */
export interface LedgerCheck {
  what: string;
  violations: Statement;
}

const checks: readonly LedgerCheck[] = [
  {
    what: "the accounts of an asset sum to zero",
    violations: sql`
      SELECT tenant_id, asset, sum(available + held)::text AS sum FROM ledger_accounts
      GROUP BY tenant_id, asset HAVING sum(available + held) <> 0`,
  },
  {
    what: "every balance is the sum of its entries",
    violations: sql`
      WITH moved AS (
        SELECT tenant_id, account_id, asset, sum(amount) AS amount FROM (
          SELECT tenant_id, debit_account_id AS account_id, asset, -amount AS amount FROM ledger_entries
          UNION ALL SELECT tenant_id, credit_account_id, asset, amount FROM ledger_entries) sides
        GROUP BY tenant_id, account_id, asset)
      SELECT tenant_id, account_id, asset, (a.available + a.held)::text AS balance, m.amount::text AS entries
      FROM ledger_accounts a FULL JOIN moved m USING (tenant_id, account_id, asset)
      WHERE coalesce(a.available + a.held, 0) <> coalesce(m.amount, 0)`,
  },
  {
    what: "what is held is what open transactions and orders hold",
    violations: sql`
      WITH holding AS (
        SELECT tenant_id, account_id, asset, sum(amount) AS amount FROM (
          SELECT t.tenant_id, t.source_account_id AS account_id, t.asset, t.amount
          FROM open_transactions o JOIN transactions t USING (tenant_id, id) WHERE o.state <> 'accepted'
          UNION ALL
          SELECT p.tenant_id, p.wallet_id, CASE p.side WHEN 'buy' THEN m.quote ELSE m.base END, p.held
          FROM open_orders p JOIN markets m USING (market)) holds
        GROUP BY 1, 2, 3)
      SELECT tenant_id, account_id, asset, a.held::text AS held, h.amount::text AS open
      FROM ledger_accounts a FULL JOIN holding h USING (tenant_id, account_id, asset)
      WHERE coalesce(a.held, 0) <> coalesce(h.amount, 0)`,
  },
  {
    what: "every transaction is either open or final, and never both",
    violations: sql`
      SELECT t.tenant_id, t.id FROM transactions t
      LEFT JOIN open_transactions o ON o.tenant_id = t.tenant_id AND o.id = t.id
      LEFT JOIN events e ON e.tenant_id = t.tenant_id AND e.subject_id = t.id
        AND e.state IN ('completed', 'rejected', 'failed', 'cancelled')
      GROUP BY t.tenant_id, t.id
      HAVING count(DISTINCT o.id) + count(DISTINCT e.sequence) <> 1`,
  },
  {
    what: "every completed transaction has moved its amount once, and no other has moved anything",
    violations: sql`
      SELECT t.tenant_id, t.id FROM transactions t
      LEFT JOIN events e ON e.tenant_id = t.tenant_id AND e.subject_id = t.id AND e.state = 'completed'
      LEFT JOIN ledger_entries l ON l.tenant_id = t.tenant_id AND l.transaction_id = t.id
      GROUP BY t.tenant_id, t.id, t.amount, t.asset, t.source_account_id, t.destination_account_id
      HAVING count(l.line) <> count(DISTINCT e.sequence)
        OR bool_or(l.amount <> t.amount OR l.asset <> t.asset OR l.debit_account_id <> t.source_account_id
          OR l.credit_account_id <> t.destination_account_id)`,
  },
  {
    what: "the sequence of every tenant has no gap",
    violations: sql`
      SELECT s.tenant_id, s.sequence::text, count(e.sequence)::text AS events FROM event_sequences s
      LEFT JOIN events e USING (tenant_id) GROUP BY s.tenant_id, s.sequence
      HAVING count(e.sequence) <> s.sequence OR coalesce(max(e.sequence), 0) <> s.sequence`,
  },
  {
    // An endpoint of webhooks also changes in ways that nobody is told of.
    what: "the versions of every transaction, order and wallet have no gap",
    violations: sql`
      SELECT tenant_id, subject_id FROM events WHERE event <> 'endpoint.disabled' GROUP BY tenant_id, subject_id
      HAVING min(version) <> 2 OR max(version) - 1 <> count(*)`,
  },
  ...marketChecks,
];

export interface LedgerVerdict {
  what: string;
  /** Where it does not hold; the first few. */
  violations: Record<string, unknown>[];
}

const violationsMax = 10;

/** Checks the books as a whole, on one snapshot: what is being written meanwhile is not seen by halves. */
export async function auditLedger(database: Database): Promise<LedgerVerdict[]> {
  return await database.transaction(async (tx) => {
    await tx.query(sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY`);
    // These read everything, where the service's own statements read by an index.
    for (const way of [sql`SET LOCAL enable_seqscan = on`, sql`SET LOCAL enable_hashjoin = on`])
      await tx.query(way);
    const verdicts: LedgerVerdict[] = [];
    for (const { what, violations } of checks)
      verdicts.push({ what, violations: await find(tx, violations) });
    return verdicts;
  });
}

function find(tx: Queryable, violations: Statement): Promise<Record<string, unknown>[]> {
  return tx.query(sql`${violations} LIMIT ${violationsMax}`);
}
