import type { Balance } from "@bursar/domain";
import { marketOwnerId } from "../app/markets/house.js";
import { type AccountKey, accountName } from "../app/transactions/settlement.js";
import type { Queryable, Transaction } from "./database.js";
import { sql } from "./sql.js";

interface AccountRow extends AccountKey {
  available: string;
  held: string;
}

/** Locks accounts in the order of their keys, so that of all who move money no two ever wait for each other. Served by the primary key. */
export async function lockAccounts(
  transaction: Queryable,
  keys: readonly AccountKey[],
): Promise<Map<string, Balance>> {
  const wanted = sql`unnest(
    ${keys.map((key) => key.tenantId)}::uuid[], ${keys.map((key) => key.ownerId)}::uuid[], ${keys.map((key) => key.asset)}::text[]
  ) AS wanted (tenant_id, owner_id, asset)`;
  const lock = () =>
    transaction.query<AccountRow>(sql`
      SELECT a.tenant_id AS "tenantId", a.owner_id AS "ownerId", a.asset, a.available, a.held
      FROM ledger_accounts a JOIN ${wanted} USING (tenant_id, owner_id, asset)
      ORDER BY a.tenant_id, a.owner_id, a.asset FOR UPDATE OF a
    `);
  let rows = await lock();
  if (rows.length < keys.length) {
    // A zero row first, so that there is something to lock.
    await transaction.query(sql`
      INSERT INTO ledger_accounts (tenant_id, owner_id, asset, is_external, available, held)
      SELECT tenant_id, owner_id, asset, owner_id = ${marketOwnerId}, 0, 0 FROM ${wanted} ORDER BY tenant_id, owner_id, asset
      ON CONFLICT DO NOTHING
    `);
    rows = await lock();
  }
  return new Map(
    rows.map((row) => [accountName(row), { available: BigInt(row.available), held: BigInt(row.held) }]),
  );
}

/** Writes balances, by the names of their accounts, which are locked. */
export function writeAccounts(transaction: Transaction, accounts: ReadonlyMap<string, Balance>): void {
  const rows = [...accounts].map(([name, { available, held }]) => {
    const [tenantId, ownerId, asset] = name.split(" ");
    return { tenantId, ownerId, asset, available: available.toString(), held: held.toString() };
  });
  transaction.send(sql`
    UPDATE ledger_accounts a SET available = changed.available, held = changed.held
    FROM unnest(
      ${rows.map((row) => row.tenantId)}::uuid[], ${rows.map((row) => row.ownerId)}::uuid[], ${rows.map((row) => row.asset)}::text[],
      ${rows.map((row) => row.available)}::numeric[], ${rows.map((row) => row.held)}::numeric[]
    ) AS changed (tenant_id, owner_id, asset, available, held)
    WHERE a.tenant_id = changed.tenant_id AND a.owner_id = changed.owner_id AND a.asset = changed.asset
  `);
}
