import { type Statement, sql } from "../../../src/store/core/sql.js";
import type { TestDatabase } from "./test-database.js";

/**
 * What the reader of the log should have written for a tenant, computed from the tables that it reads, all at once and by other statements.
 * Returns the rows that differ; none if all is well.
 */
export async function findViewFaults(
  database: Pick<TestDatabase, "query">,
  tenantId: string,
): Promise<object[]> {
  const differ = (name: string, written: Statement, expected: Statement) =>
    database.query<object>(sql`
      SELECT ${name} AS view, 'missing' AS fault, to_jsonb(m) AS row FROM (${expected} EXCEPT ${written}) m
      UNION ALL SELECT ${name}, 'not expected', to_jsonb(u) FROM (${written} EXCEPT ${expected}) u
    `);
  return (
    await Promise.all([
      differ("states", statesWritten(tenantId), statesExpected(tenantId)),
      differ("hours", hoursWritten(tenantId), hoursExpected(tenantId)),
      differ("entries", entriesWritten(tenantId), entriesExpected(tenantId)),
      differ("balances", balancesWritten(tenantId), balancesExpected(tenantId)),
      differ("periods", periodsWritten(tenantId), periodsExpected(tenantId)),
      brokenChains(database, tenantId),
    ])
  ).flat();
}

const changes = (tenantId: string) => sql`
  SELECT v.*, t.asset, t.amount FROM events v JOIN transactions t ON t.tenant_id = v.tenant_id AND t.id = v.subject_id
  WHERE v.tenant_id = ${tenantId} AND v.event = 'transaction.updated'`;

const statesExpected = (tenantId: string) => sql`
  SELECT c.state, c.asset, sum(c.entered) AS entered, sum(c.entered * c.amount) AS entered_amount, sum(1 - c.entered) AS left_count
  FROM (SELECT state, asset, amount, 1 AS entered FROM (${changes(tenantId)}) a
    UNION ALL SELECT previous_state, asset, amount, 0 FROM (${changes(tenantId)}) b) c
  GROUP BY c.state, c.asset`;
const statesWritten = (tenantId: string) => sql`
  SELECT state, asset, entered::numeric AS entered, entered_amount, left_count::numeric AS left_count FROM transaction_periods
  WHERE tenant_id = ${tenantId} AND period = 'all'`;

const hoursExpected = (tenantId: string) => sql`
  SELECT date_trunc('hour', occurred_at, 'UTC') AS start, state, asset, count(*) AS entered FROM (${changes(tenantId)}) c GROUP BY 1, 2, 3`;
const hoursWritten = (tenantId: string) => sql`
  SELECT start, state, asset, entered FROM transaction_periods WHERE tenant_id = ${tenantId} AND period = 'hour' AND entered > 0`;

/** Both sides of each line of the ledger that belong to a wallet. */
const entriesExpected = (tenantId: string) => sql`
  SELECT s.account_id AS wallet_id, l.asset, s.amount, l.transaction_id AS cause_id FROM ledger_entries l
  CROSS JOIN LATERAL (VALUES (l.debit_account_id, -l.amount), (l.credit_account_id, l.amount)) AS s (account_id, amount)
  JOIN wallets w ON w.tenant_id = ${tenantId} AND w.id = s.account_id WHERE l.tenant_id = ${tenantId}`;
const entriesWritten = (tenantId: string) => sql`
  SELECT wallet_id, asset, amount, cause_id FROM wallet_entries WHERE tenant_id = ${tenantId} AND cause = 'transaction'`;

const balancesExpected = (tenantId: string) => sql`
  SELECT account_id AS wallet_id, asset, (available + held)::numeric AS balance FROM ledger_accounts
  WHERE tenant_id = ${tenantId} AND kind = 'wallet' AND available + held > 0`;
const balancesWritten = (tenantId: string) => sql`
  SELECT wallet_id, asset, balance FROM (
    SELECT DISTINCT ON (wallet_id, asset) wallet_id, asset, balance FROM wallet_entries WHERE tenant_id = ${tenantId}
    ORDER BY wallet_id, asset, sequence DESC, line DESC) last WHERE balance > 0`;

const periodsExpected = (tenantId: string) => sql`
  SELECT wallet_id, asset, p.period, date_trunc(p.period, occurred_at, 'UTC') AS start,
    coalesce(sum(amount) FILTER (WHERE amount > 0), 0) AS received, coalesce(-sum(amount) FILTER (WHERE amount < 0), 0) AS sent
  FROM wallet_entries CROSS JOIN (VALUES ('hour'), ('day')) AS p (period) WHERE tenant_id = ${tenantId} GROUP BY 1, 2, 3, 4`;
const periodsWritten = (tenantId: string) => sql`
  SELECT wallet_id, asset, period, start, received, sent FROM wallet_periods WHERE tenant_id = ${tenantId}`;

/** Each balance follows from the one before it. */
const brokenChains = (database: Pick<TestDatabase, "query">, tenantId: string) =>
  database.query<object>(sql`
    SELECT * FROM (
      SELECT wallet_id, asset, sequence, line, amount, balance,
        coalesce(lag(balance) OVER (PARTITION BY wallet_id, asset ORDER BY sequence, line), 0) AS before
      FROM wallet_entries WHERE tenant_id = ${tenantId}) e WHERE e.before + e.amount <> e.balance
  `);
