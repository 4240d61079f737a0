import { type AccountKey, accountKind, accountName, type Balance } from "@bursar/domain";
import type { Database, Queryable, Tx } from "../core/database.js";
import { type Statement, sql } from "../core/sql.js";

interface AccountRow extends AccountKey {
  available: string;
  held: string;
}

/**
 * Locks the accounts that there are, in the order of their keys, so that of all who move money no two ever wait for each other.
 * Served by the primary key.
 */
export async function lockAccounts(
  tx: Queryable,
  keys: readonly AccountKey[],
): Promise<Map<string, Balance>> {
  const rows = await tx.query<AccountRow>(sql`
    SELECT a.tenant_id AS "tenantId", a.account_id AS "accountId", a.asset, a.available, a.held
    FROM ledger_accounts a JOIN ${wantedAccounts(keys)} USING (tenant_id, account_id, asset)
    ORDER BY a.tenant_id, a.account_id, a.asset FOR UPDATE OF a
  `);
  return new Map(
    rows.map((row) => [accountName(row), { available: BigInt(row.available), held: BigInt(row.held) }]),
  );
}

/** Zero rows for those that are not there yet, so that there is something to lock. Served by the primary key. */
export async function createAccounts(database: Queryable, keys: readonly AccountKey[]): Promise<void> {
  await database.query(sql`
    INSERT INTO ledger_accounts (tenant_id, account_id, asset, kind, available, held)
    SELECT tenant_id, account_id, asset, kind, 0, 0 FROM unnest(
      ${keys.map((key) => key.tenantId)}::uuid[], ${keys.map((key) => key.accountId)}::uuid[],
      ${keys.map((key) => key.asset)}::text[], ${keys.map((key) => accountKind(key.accountId))}::text[]
    ) AS wanted (tenant_id, account_id, asset, kind)
    ORDER BY tenant_id, account_id, asset
    ON CONFLICT DO NOTHING
  `);
}

function wantedAccounts(keys: readonly AccountKey[]): Statement {
  return sql`unnest(
    ${keys.map((key) => key.tenantId)}::uuid[], ${keys.map((key) => key.accountId)}::uuid[], ${keys.map((key) => key.asset)}::text[]
  ) AS wanted (tenant_id, account_id, asset)`;
}

/** Ends a transaction that needs accounts which are not there. */
class MissingAccountsError extends Error {
  readonly keys: readonly AccountKey[];

  constructor(keys: readonly AccountKey[]) {
    super("some accounts are not there yet");
    this.keys = keys;
  }
}

/** Locks all of these accounts, in a transaction of `withAccounts`. */
export async function lockAllAccounts(
  tx: Queryable,
  keys: readonly AccountKey[],
): Promise<Map<string, Balance>> {
  if (keys.length === 0) return new Map();
  const accounts = await lockAccounts(tx, keys);
  if (accounts.size < keys.length) throw new MissingAccountsError(keys);
  return accounts;
}

/**
 * Runs a transaction that locks accounts. What does not exist cannot be locked in its place in the order; so it is made while
 * nothing is locked, and the transaction begins again. An account is new only once.
 */
export async function withAccounts<T>(database: Database, work: (tx: Tx) => Promise<T>): Promise<T> {
  try {
    return await database.transaction(work);
  } catch (error) {
    if (!(error instanceof MissingAccountsError)) throw error;
    await createAccounts(database, error.keys);
    return await withAccounts(database, work);
  }
}

/** Writes balances, by the names of their accounts, which are locked. */
export function writeAccounts(tx: Tx, accounts: ReadonlyMap<string, Balance>): void {
  const rows = [...accounts].map(([name, { available, held }]) => {
    const [tenantId, accountId, asset] = name.split(" ");
    return { tenantId, accountId, asset, available: available.toString(), held: held.toString() };
  });
  tx.send(sql`
    UPDATE ledger_accounts a SET available = changed.available, held = changed.held
    FROM unnest(
      ${rows.map((row) => row.tenantId)}::uuid[], ${rows.map((row) => row.accountId)}::uuid[], ${rows.map((row) => row.asset)}::text[],
      ${rows.map((row) => row.available)}::numeric[], ${rows.map((row) => row.held)}::numeric[]
    ) AS changed (tenant_id, account_id, asset, available, held)
    WHERE a.tenant_id = changed.tenant_id AND a.account_id = changed.account_id AND a.asset = changed.asset
  `);
}
