import type { ChainDeposit, DepositKey } from "../../app/chain/chain-deposit.js";
import type { ChainUnit } from "../../app/chain/chain-store.js";
import type { GatheredAmount } from "../../app/chain/wallet-books.js";
import type { Queryable, Tx } from "../core/database.js";
import { locateRows } from "../core/rows/locate-rows.js";
import { type Statement, sql } from "../core/sql.js";
import { hasWallet } from "./unowned-rows.js";

interface DepositRow extends Omit<ChainDeposit, "amount" | "block" | "leftNumber"> {
  amount: string;
  blockNumber: string | null;
  blockHash: string | null;
  leftNumber: string | null;
}

const columns = sql`c.hash, c.ordinal, c.tenant_id AS "tenantId", c.wallet_id AS "walletId", c.asset, c.amount,
  c.transaction_id AS "transactionId", c.block_number AS "blockNumber", c.block_hash AS "blockHash", c.left_number AS "leftNumber", c.state`;

function readDeposit({ blockNumber, blockHash, leftNumber, amount, ...row }: DepositRow): ChainDeposit {
  return {
    ...row,
    amount: BigInt(amount),
    block:
      blockNumber === null || blockHash === null ? null : { number: Number(blockNumber), hash: blockHash },
    leftNumber: leftNumber === null ? null : Number(leftNumber),
  };
}

/** Served by the primary key. */
export async function findDeposits(
  tx: Queryable,
  network: string,
  keys: readonly DepositKey[],
): Promise<ChainDeposit[]> {
  const rows = await tx.query<DepositRow>(sql`
    SELECT ${columns} FROM unnest(
      ${keys.map(({ hash }) => hash)}::text[], ${keys.map(({ ordinal }) => ordinal)}::integer[]) AS given (hash, ordinal)
    CROSS JOIN LATERAL (
      SELECT * FROM chain_deposits c
      WHERE c.network = ${network} AND c.hash = given.hash AND c.ordinal = given.ordinal LIMIT 1) AS c
  `);
  return rows.map(readDeposit);
}

/** Served by chain_deposits_seen and the primary key of wallets. */
export function listSeen(
  tx: Queryable,
  network: string,
  range: Parameters<ChainUnit["listSeen"]>[0],
): Promise<ChainDeposit[]> {
  const isInRange =
    "above" in range
      ? sql`c.block_number > ${range.above}`
      : sql`c.block_number <= ${range.upTo} AND c.wallet_id <> ALL (${[...range.without]}::uuid[])
          AND ${hasWallet(sql`c`)}`;
  return list(
    tx,
    sql`c.network = ${network} AND c.state = 'seen' AND c.block_number IS NOT NULL AND ${isInRange}
      ORDER BY c.network, c.block_number LIMIT ${"above" in range ? range.limit : null}::bigint`,
  );
}

/** More of them end with the next block. */
const leftMax = 1000;

/** Served by chain_deposits_left and the primary key of wallets. */
export function listLeft(
  tx: Queryable,
  network: string,
  upTo: number,
  without: readonly string[],
): Promise<ChainDeposit[]> {
  return list(
    tx,
    sql`c.network = ${network} AND c.state = 'seen' AND c.left_number IS NOT NULL AND c.left_number <= ${upTo}
      AND c.wallet_id <> ALL (${[...without]}::uuid[]) AND ${hasWallet(sql`c`)}
      ORDER BY c.network, c.left_number LIMIT ${leftMax}`,
  );
}

async function list(tx: Queryable, where: Statement): Promise<ChainDeposit[]> {
  return (await tx.query<DepositRow>(sql`SELECT ${columns} FROM chain_deposits c WHERE ${where}`)).map(
    readDeposit,
  );
}

/** Conflicts are served by the primary key. */
export function putDeposits(tx: Tx, network: string, deposits: readonly ChainDeposit[]): void {
  if (deposits.length === 0) return;
  const column = <T>(pick: (deposit: ChainDeposit) => T) => deposits.map(pick);
  tx.send(sql`
    INSERT INTO chain_deposits
      (network, hash, ordinal, tenant_id, wallet_id, asset, amount, transaction_id, block_number, block_hash, left_number, state)
    SELECT ${network}, given.* FROM unnest(
      ${column(({ hash }) => hash)}::text[], ${column(({ ordinal }) => ordinal)}::integer[],
      ${column(({ tenantId }) => tenantId)}::uuid[], ${column(({ walletId }) => walletId)}::uuid[],
      ${column(({ asset }) => asset)}::text[], ${column(({ amount }) => amount)}::numeric[],
      ${column(({ transactionId }) => transactionId)}::uuid[], ${column(({ block }) => block?.number ?? null)}::bigint[],
      ${column(({ block }) => block?.hash ?? null)}::text[], ${column(({ leftNumber }) => leftNumber)}::bigint[],
      ${column(({ state }) => state)}::text[]) AS given
    ON CONFLICT (network, hash, ordinal) DO UPDATE SET tenant_id = excluded.tenant_id, wallet_id = excluded.wallet_id,
      asset = excluded.asset, amount = excluded.amount, transaction_id = excluded.transaction_id,
      block_number = excluded.block_number, block_hash = excluded.block_hash, left_number = excluded.left_number,
      state = excluded.state
  `);
}

/** Conflicts are served by the primary key. */
export async function gather(tx: Queryable, amounts: readonly GatheredAmount[]): Promise<GatheredAmount[]> {
  if (amounts.length === 0) return [];
  const rows = await tx.query<Omit<GatheredAmount, "amount"> & { amount: string }>(sql`
    INSERT INTO chain_holdings AS h (tenant_id, wallet_id, asset, gathered)
    SELECT * FROM unnest(
      ${amounts.map(({ tenantId }) => tenantId)}::uuid[], ${amounts.map(({ walletId }) => walletId)}::uuid[],
      ${amounts.map(({ asset }) => asset)}::text[], ${amounts.map(({ amount }) => amount)}::numeric[])
    ON CONFLICT (tenant_id, wallet_id, asset) DO UPDATE SET gathered = h.gathered + excluded.gathered
    RETURNING h.tenant_id AS "tenantId", h.wallet_id AS "walletId", h.asset, h.gathered AS amount
  `);
  return rows.map((row) => ({ ...row, amount: BigInt(row.amount) }));
}

/** Served by the primary key. */
export function setGathered(tx: Tx, amounts: readonly GatheredAmount[]): void {
  if (amounts.length === 0) return;
  tx.send(sql`
    UPDATE chain_holdings h SET gathered = given.amount
    FROM ${locateRows(
      sql`chain_holdings`,
      sql`unnest(
        ${amounts.map(({ tenantId }) => tenantId)}::uuid[], ${amounts.map(({ walletId }) => walletId)}::uuid[],
        ${amounts.map(({ asset }) => asset)}::text[], ${amounts.map(({ amount }) => amount)}::numeric[]
      ) AS given (tenant_id, wallet_id, asset, amount)`,
      sql`r.tenant_id = given.tenant_id AND r.wallet_id = given.wallet_id AND r.asset = given.asset`,
    )} AS given WHERE h.ctid = given.place
  `);
}
