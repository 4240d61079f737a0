import { type AccountKey, accountKind, accountName, type Balance } from "@bursar/domain";
import type { Balances, LedgerEntry } from "../../app/ledger/ledger-unit.js";
import type { Database, Queryable, Tx } from "../core/database.js";
import { boundLockWaits, queryWithin } from "../core/lock-waits.js";
import { locateRows } from "../core/rows/locate-rows.js";
import { type Statement, sql } from "../core/sql.js";

/**
 * The only place that writes to the ledger. Everything that moves value runs in `withLedger`, locks its accounts, applies changes to
 * their balances with the domain's `applyLedgerChange`, and writes balances and entries here.
 */
export async function withLedger<T>(
  database: Database,
  work: (tx: Tx) => Promise<T>,
  lockTimeoutMs?: number,
): Promise<T> {
  const bounded = (tx: Tx) => {
    if (lockTimeoutMs !== undefined) boundLockWaits(tx, lockTimeoutMs);
    return work(tx);
  };
  // An account that does not exist cannot be locked in its place in the order. So it is created while nothing is locked, and the
  // work begins again. An account is new only once; but what the work claims may be other rows the next time, with other accounts.
  for (let attempt = 1; ; attempt++) {
    try {
      return await database.transaction(bounded);
    } catch (error) {
      if (!(error instanceof MissingAccountsError) || attempt === attemptsMax) throw error;
      await createAccounts(database, error.keys, lockTimeoutMs);
    }
  }
}

const attemptsMax = 5;

/** Rolls back a unit of work that needs accounts which do not exist. */
class MissingAccountsError extends Error {
  readonly keys: readonly AccountKey[];

  constructor(keys: readonly AccountKey[]) {
    super("some ledger accounts do not exist yet");
    this.keys = keys;
  }
}

interface AccountRow extends AccountKey {
  available: string;
  held: string;
}

/**
 * Locks accounts, in a transaction of `withLedger`. The order of their keys is the same for everything that moves value, so no two of
 * them deadlock. Served by the primary key.
 */
export async function lockAccounts(tx: Queryable, keys: readonly AccountKey[]): Promise<Balances> {
  if (keys.length === 0) return new Map();
  const rows = await tx.query<AccountRow>(sql`
    SELECT a.tenant_id AS "tenantId", a.account_id AS "accountId", a.asset, a.available, a.held
    FROM (SELECT * FROM ${unnestKeys(keys)} ORDER BY tenant_id, account_id, asset) AS wanted
    CROSS JOIN LATERAL (
      SELECT * FROM ledger_accounts a
      WHERE a.tenant_id = wanted.tenant_id AND a.account_id = wanted.account_id AND a.asset = wanted.asset FOR UPDATE) AS a
  `);
  if (rows.length < keys.length) throw new MissingAccountsError(keys);
  return new Map(
    rows.map((row) => [accountName(row), { available: BigInt(row.available), held: BigInt(row.held) }]),
  );
}

/** Creates those that do not exist, with zero balances. Served by the primary key. */
async function createAccounts(
  database: Database,
  keys: readonly AccountKey[],
  lockTimeoutMs: number | undefined,
): Promise<void> {
  const insertMissing = sql`
    INSERT INTO ledger_accounts (tenant_id, account_id, asset, kind, available, held)
    SELECT tenant_id, account_id, asset, kind, 0, 0 FROM unnest(
      ${keys.map((key) => key.tenantId)}::uuid[], ${keys.map((key) => key.accountId)}::uuid[],
      ${keys.map((key) => key.asset)}::text[], ${keys.map((key) => accountKind(key.accountId))}::text[]
    ) AS wanted (tenant_id, account_id, asset, kind)
    ORDER BY tenant_id, account_id, asset
    ON CONFLICT DO NOTHING
  `;
  if (lockTimeoutMs === undefined) await database.query(insertMissing);
  // It waits for a row that another SQL transaction has inserted and not committed.
  else await queryWithin(database, lockTimeoutMs, insertMissing);
}

function unnestKeys(keys: readonly AccountKey[]): Statement {
  return sql`unnest(
    ${keys.map((key) => key.tenantId)}::uuid[], ${keys.map((key) => key.accountId)}::uuid[], ${keys.map((key) => key.asset)}::text[]
  ) AS wanted (tenant_id, account_id, asset)`;
}

/** Writes the balances of locked accounts. Served by the primary key. */
export function writeBalances(tx: Tx, balances: ReadonlyMap<string, Balance>): void {
  if (balances.size === 0) return;
  const rows = [...balances].map(([name, { available, held }]) => {
    const [tenantId, accountId, asset] = name.split(" ");
    return { tenantId, accountId, asset, available: available.toString(), held: held.toString() };
  });
  tx.send(sql`
    UPDATE ledger_accounts a SET available = changed.available, held = changed.held
    FROM ${locateRows(
      sql`ledger_accounts`,
      sql`unnest(
      ${rows.map((row) => row.tenantId)}::uuid[], ${rows.map((row) => row.accountId)}::uuid[], ${rows.map((row) => row.asset)}::text[],
      ${rows.map((row) => row.available)}::numeric[], ${rows.map((row) => row.held)}::numeric[]
    ) AS given (tenant_id, account_id, asset, available, held)`,
      sql`r.tenant_id = given.tenant_id AND r.account_id = given.account_id AND r.asset = given.asset`,
    )} AS changed WHERE a.ctid = changed.place
  `);
}

/** The entries of a transaction. They are few: the amount, and what its network charged. Served by the primary key. */
export async function readEntries(
  database: Queryable,
  tenantId: string,
  transactionId: string,
): Promise<LedgerEntry[]> {
  const rows = await database.query<Omit<LedgerEntry, "amount"> & { amount: string }>(sql`
    SELECT tenant_id AS "tenantId", transaction_id AS "transactionId", line, debit_account_id AS debit, credit_account_id AS credit,
      asset, amount
    FROM ledger_entries WHERE tenant_id = ${tenantId} AND transaction_id = ${transactionId} ORDER BY line
  `);
  return rows.map((row) => ({ ...row, amount: BigInt(row.amount) }));
}

/** Appends entries. The primary key refuses a line that was written before. */
export function writeEntries(tx: Tx, entries: readonly LedgerEntry[]): void {
  if (entries.length === 0) return;
  tx.send(sql`
    INSERT INTO ledger_entries (tenant_id, transaction_id, line, debit_account_id, credit_account_id, asset, amount)
    SELECT * FROM unnest(
      ${entries.map((entry) => entry.tenantId)}::uuid[], ${entries.map((entry) => entry.transactionId)}::uuid[],
      ${entries.map((entry) => entry.line)}::smallint[], ${entries.map((entry) => entry.debit)}::uuid[],
      ${entries.map((entry) => entry.credit)}::uuid[], ${entries.map((entry) => entry.asset)}::text[],
      ${entries.map((entry) => entry.amount)}::numeric[])
  `);
}
