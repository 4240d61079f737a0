import type { RowMac } from "../access/row-integrity.js";
import { type Database, type KeyedQueryable, requireKeys, type Tx } from "../core/database.js";
import { locateRows } from "../core/rows/locate-rows.js";
import { type Statement, sql } from "../core/sql.js";
import {
  isDepositAuthentic,
  macOfDeposit,
  type SealedTransaction,
  sealedColumns,
} from "./transaction-integrity.js";

/*
 * Unlike other transactions, deposits are verified after they have ended: a balance that has come in from nowhere is found by that. So their MACs
 * are written again with a new master key, all of them.
 */

type DepositRow = SealedTransaction & RowMac;

const batchMax = 500;
const leastId = "00000000-0000-0000-0000-000000000000";
const first = { tenantId: leastId, id: leastId };

/** The next deposits of all tenants. Served by transactions_by_kind. */
async function listDeposits(
  source: KeyedQueryable,
  after: Pick<DepositRow, "tenantId" | "id">,
  lock: Statement = sql``,
): Promise<DepositRow[]> {
  return await source.query<DepositRow>(sql`
    SELECT ${sealedColumns} FROM transactions t
    WHERE t.kind <> 'transfer' AND t.kind = 'deposit'
      AND (t.tenant_id, t.kind, t.id) > (${after.tenantId}::uuid, 'deposit', ${after.id}::uuid)
    ORDER BY t.tenant_id, t.kind, t.id LIMIT ${batchMax} ${lock}
  `);
}

/** Deposits that something other than the service has inserted or changed, at most so many. */
export async function findForgedDeposits(
  tx: KeyedQueryable,
  limit: number,
): Promise<Record<string, unknown>[]> {
  const forged: Record<string, unknown>[] = [];
  for (
    let rows = await listDeposits(tx, first);
    rows.length > 0;
    rows = await listDeposits(tx, rows.at(-1) ?? first)
  ) {
    for (const row of rows)
      if (forged.length < limit && !isDepositAuthentic(requireKeys(tx), row))
        forged.push({ tenant_id: row.tenantId, id: row.id, asset: row.asset, amount: row.amount });
    if (rows.length < batchMax || forged.length === limit) break;
  }
  return forged;
}

/** Writes the MACs of deposits with the current key. One that is wrong stays as it is; returns how many of each. */
export async function resealDeposits(database: Database): Promise<{ written: number; refused: number }> {
  const counts = { written: 0, refused: 0 };
  for (let after: typeof first | undefined = first; after !== undefined; ) {
    const from: typeof first = after;
    after = await database.transaction((tx) => resealBatch(tx, from, counts));
  }
  return counts;
}

async function resealBatch(
  tx: Tx,
  after: typeof first,
  counts: { written: number; refused: number },
): Promise<typeof first | undefined> {
  const keys = requireKeys(tx);
  const rows = await listDeposits(tx, after, sql`FOR NO KEY UPDATE`);
  const authentic = rows.filter((row) => isDepositAuthentic(keys, row));
  const old = authentic.filter(({ keyId }) => keyId !== keys.currentId);
  counts.refused += rows.length - authentic.length;
  counts.written += old.length;
  if (old.length > 0)
    tx.send(sql`
      UPDATE transactions t SET key_id = ${keys.currentId}, mac = decode(given.mac, 'hex')
      FROM ${locateRows(
        sql`transactions`,
        sql`unnest(${old.map(({ tenantId }) => tenantId)}::uuid[], ${old.map(({ id }) => id)}::uuid[],
          ${old.map((row) => macOfDeposit(keys, row).mac.toString("hex"))}::text[]) AS given (tenant_id, id, mac)`,
      )} AS given WHERE t.ctid = given.place
    `);
  return rows.length < batchMax ? undefined : rows.at(-1);
}
