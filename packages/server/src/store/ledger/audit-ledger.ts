import type { Database, Queryable } from "../core/database.js";
import { type Statement, sql } from "../core/sql.js";
import { marketChecks } from "../markets/audit-markets.js";
import { findForgedApprovals } from "../transactions/forged-approvals.js";
import { findForgedDeposits } from "../transactions/sealed-deposits.js";

/** A rule of the ledger, and a query that finds where it is violated. */
export interface LedgerCheck {
  what: string;
  violations: Statement;
}

/**
 * The rule of the ledger: every account is what its entries say, and holds what open transactions and orders hold. An entry debits as
 * much as it credits, so the accounts of an asset sum to zero by that; the sum is computed all the same, from the balances alone.
 */
const accountRule: LedgerCheck = {
  what: "every account is the sum of its entries, holds what is open, and every asset sums to zero",
  violations: sql`
    WITH posted AS (
      SELECT tenant_id, account_id, asset, sum(amount) AS amount FROM (
        SELECT tenant_id, debit_account_id AS account_id, asset, -amount AS amount FROM ledger_entries
        UNION ALL SELECT tenant_id, credit_account_id, asset, amount FROM ledger_entries) sides
      GROUP BY 1, 2, 3),
    holding AS (
      SELECT tenant_id, account_id, asset, sum(amount) AS amount FROM (
        SELECT t.tenant_id, t.source_account_id AS account_id, t.asset, t.amount
        FROM open_transactions o JOIN transactions t USING (tenant_id, id) WHERE o.state <> 'accepted'
        UNION ALL
        SELECT t.tenant_id, t.source_account_id, o.fee_asset, o.fee_held
        FROM open_transactions o JOIN transactions t USING (tenant_id, id) WHERE o.fee_held > 0
        UNION ALL
        SELECT p.tenant_id, p.wallet_id, CASE p.side WHEN 'buy' THEN m.quote ELSE m.base END, p.held
        FROM open_orders p JOIN markets m USING (market)) holds
      GROUP BY 1, 2, 3)
    SELECT tenant_id, account_id, asset, (a.available + a.held)::text AS balance, p.amount::text AS entries,
      a.held::text AS held, h.amount::text AS open
    FROM ledger_accounts a FULL JOIN posted p USING (tenant_id, account_id, asset)
    FULL JOIN holding h USING (tenant_id, account_id, asset)
    WHERE coalesce(a.available + a.held, 0) <> coalesce(p.amount, 0) OR coalesce(a.held, 0) <> coalesce(h.amount, 0)
    UNION ALL
    SELECT tenant_id, NULL, asset, sum(available + held)::text, '0', NULL, NULL FROM ledger_accounts
    GROUP BY tenant_id, asset HAVING sum(available + held) <> 0`,
};

/** Line 1 of a transaction's entries is its amount, the lines after it are fees: see `Posting`. */
const transactionRule: LedgerCheck = {
  what: "every completed transaction has moved its amount once, and any other has at most paid fees",
  violations: sql`
    SELECT t.tenant_id, t.id, e.state FROM transactions t
    LEFT JOIN events e ON e.tenant_id = t.tenant_id AND e.subject_id = t.id AND e.state IN ('completed', 'failed', 'cancelled')
    LEFT JOIN ledger_entries l ON l.tenant_id = t.tenant_id AND l.transaction_id = t.id
    LEFT JOIN ledger_accounts c ON c.tenant_id = l.tenant_id AND c.account_id = l.credit_account_id AND c.asset = l.asset
    GROUP BY t.tenant_id, t.id, e.state
    HAVING count(*) FILTER (WHERE l.line = 1) <> CASE e.state WHEN 'completed' THEN 1 ELSE 0 END
      OR bool_or(l.line = 1 AND (l.amount, l.asset, l.debit_account_id, l.credit_account_id)
        IS DISTINCT FROM (t.amount, t.asset, t.source_account_id, t.destination_account_id))
      OR bool_or(l.line > 1 AND (e.state IS NULL OR l.debit_account_id <> t.source_account_id OR c.kind <> 'external'))`,
};

/** Also about entries that have no transaction. */
const incomeRule: LedgerCheck = {
  what: "what has come in from outside is a deposit",
  violations: sql`
    SELECT l.tenant_id, l.transaction_id, l.asset, l.amount::text AS amount FROM ledger_entries l
    JOIN ledger_accounts a ON a.tenant_id = l.tenant_id AND a.account_id = l.debit_account_id AND a.asset = l.asset
    LEFT JOIN transactions t ON t.tenant_id = l.tenant_id AND t.id = l.transaction_id
    WHERE a.kind = 'external' AND t.kind IS DISTINCT FROM 'deposit'`,
};

const checks: readonly LedgerCheck[] = [
  accountRule,
  transactionRule,
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
    what: "no transaction is completed, or open, that has ended otherwise",
    violations: sql`
      SELECT s.tenant_id, s.subject_id, e.state FROM stop_records s
      LEFT JOIN events e ON e.tenant_id = s.tenant_id AND e.subject_id = s.subject_id AND e.event = 'transaction.updated'
        AND e.state = 'completed'
      LEFT JOIN open_transactions o ON o.tenant_id = s.tenant_id AND o.id = s.subject_id
      WHERE s.stopped AND (e.state IS NOT NULL OR o.id IS NOT NULL)`,
  },
  {
    what: "the sequence of every tenant has no gap, other than those of a recovery",
    violations: sql`
      SELECT s.tenant_id, s.sequence::text, count(e.sequence)::text AS events FROM event_sequences s
      LEFT JOIN events e USING (tenant_id)
      LEFT JOIN LATERAL (
        SELECT sum(lifted - kept) AS count, max(lifted) AS last FROM lifted_sequences WHERE tenant_id = s.tenant_id) skipped ON true
      GROUP BY s.tenant_id, s.sequence, skipped.count, skipped.last
      HAVING count(e.sequence) + coalesce(skipped.count, 0) <> s.sequence
        OR greatest(max(e.sequence), skipped.last, 0) <> s.sequence`,
  },
  {
    // A webhook endpoint also changes without an event, and a change request has an event of its first version.
    what: "the versions of every transaction, order and wallet have no gap",
    violations: sql`
      SELECT tenant_id, subject_id FROM events WHERE event NOT IN ('endpoint.disabled', 'change_request.updated', 'audit.checkpoint') GROUP BY tenant_id, subject_id
      HAVING min(version) <> 2 OR max(version) - 1 <> count(*)`,
  },
  ...marketChecks,
];

export interface LedgerVerdict {
  what: string;
  /** The first few. */
  violations: Record<string, unknown>[];
}

const violationsMax = 10;
const depositRule = "every deposit was recorded by the service";
const decisionRule = "every decision on a transaction was recorded by the service";

/** Checks the whole ledger on one snapshot, so that a transaction that commits meanwhile is seen as a whole or not at all. */
export async function auditLedger(database: Database): Promise<LedgerVerdict[]> {
  return await database.transaction(async (tx) => {
    await tx.query(sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY`);
    // These queries read everything; the service's own statements are set up to read by an index.
    for (const setting of [sql`SET LOCAL enable_seqscan = on`, sql`SET LOCAL enable_hashjoin = on`])
      await tx.query(setting);
    const verdicts: LedgerVerdict[] = [];
    for (const { what, violations } of checks)
      verdicts.push({ what, violations: await find(tx, violations) });
    // Where money has come from, and who has decided, is known only with the keys that verify deposits and decisions.
    if (database.keys !== undefined)
      verdicts.push(
        { what: incomeRule.what, violations: await find(tx, incomeRule.violations) },
        { what: depositRule, violations: await findForgedDeposits(tx, violationsMax) },
        { what: decisionRule, violations: await findForgedApprovals(tx, violationsMax) },
      );
    return verdicts;
  });
}

/** Records the end of an audit, for the metrics. Served by the primary key. */
export async function recordLedgerAudit(
  database: Queryable,
  verdicts: readonly LedgerVerdict[],
  finishedAt: Date,
): Promise<void> {
  const violated = verdicts.filter(({ violations }) => violations.length > 0).length;
  await database.query(sql`
    INSERT INTO ledger_audits (finished_at, violated) VALUES (${finishedAt}, ${violated})
    ON CONFLICT (singleton) DO UPDATE SET finished_at = excluded.finished_at, violated = excluded.violated
  `);
}

function find(tx: Queryable, violations: Statement): Promise<Record<string, unknown>[]> {
  return tx.query(sql`${violations} LIMIT ${violationsMax}`);
}
