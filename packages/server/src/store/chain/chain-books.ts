import type { WalletKey } from "../../app/chain/chain-store.js";
import type { ComparedPage, Holding, ListedWallet, WalletBooks } from "../../app/chain/wallet-books.js";
import type { Queryable, Tx } from "../core/database.js";
import { locateRows } from "../core/rows/locate-rows.js";
import { sql } from "../core/sql.js";
import { leastId, listWallets } from "./wallets/confirmed-wallets.js";
import { freeNonce, lowestOpen } from "./wallets/free-nonce.js";

/** Served by chain_wallets_to_compare. */
export async function listToCompare(
  source: Queryable,
  network: string,
  page: ComparedPage,
): Promise<ListedWallet[]> {
  const isListed =
    page.of === "touched"
      ? sql`w.compared_number = -1 AND w.wallet_id > ${page.afterWalletId ?? leastId}::uuid`
      : sql`w.compared_number >= 0 AND w.compared_number < ${page.beforeNumber}`;
  const rows = await source.query<ListedRow>(sql`
    SELECT w.tenant_id AS "tenantId", w.wallet_id AS "walletId", w.address, w.compared_number AS "comparedNumber",
      w.stated_nonce AS "statedNonce", w.halted_reason IS NOT NULL AS "isHalted"
    FROM chain_wallets w
    WHERE w.network = ${network} AND ${isListed}
    ORDER BY w.network, w.compared_number, w.wallet_id LIMIT ${page.limit}
  `);
  return rows.map(({ comparedNumber, statedNonce, ...row }) => ({
    ...row,
    comparedNumber: Number(comparedNumber),
    statedNonce: statedNonce === null ? null : Number(statedNonce),
  }));
}

interface ListedRow extends Omit<ListedWallet, "comparedNumber" | "statedNonce"> {
  comparedNumber: string;
  statedNonce: string | null;
}

interface SenderRow extends WalletKey {
  isHalted: boolean;
  finalNonce: string;
  statedNonce: string | null;
  lowestOpen: string | null;
}

/**
 * What the books say. Only the driver changes the sum of available and held of a wallet on a chain, and it has locked the row of the network,
 * so no account is locked. Served by primary keys and chain_payments_open.
 */
export async function readBooks(tx: Queryable, wallets: readonly WalletKey[]): Promise<WalletBooks[]> {
  const senders = await tx.query<SenderRow>(sql`
    SELECT w.tenant_id AS "tenantId", w.wallet_id AS "walletId", least(w.final_nonce, ${freeNonce}) AS "finalNonce",
      w.halted_reason IS NOT NULL AS "isHalted", w.stated_nonce AS "statedNonce", ${lowestOpen} AS "lowestOpen"
    FROM ${listWallets(wallets)} CROSS JOIN LATERAL (
      SELECT * FROM chain_wallets w
      WHERE w.tenant_id = given.tenant_id AND w.wallet_id = given.wallet_id LIMIT 1) AS w
  `);
  const amounts = await tx.query<WalletKey & { asset: string; booked: string; gathered: string }>(sql`
    SELECT given.tenant_id AS "tenantId", given.wallet_id AS "walletId", a.asset, a.booked, a.gathered
    FROM ${listWallets(wallets)} CROSS JOIN LATERAL (
      SELECT a.asset, a.available + a.held AS booked, 0 AS gathered FROM ledger_accounts a
      WHERE a.tenant_id = given.tenant_id AND a.account_id = given.wallet_id
      UNION ALL
      SELECT h.asset, 0, h.gathered FROM chain_holdings h
      WHERE h.tenant_id = given.tenant_id AND h.wallet_id = given.wallet_id) AS a
  `);
  return senders.map(({ tenantId, walletId, isHalted, ...nonces }) => {
    const balances = new Map<string, { booked: bigint; gathered: bigint }>();
    for (const { asset, booked, gathered } of amounts.filter((one) => one.walletId === walletId)) {
      const sum = balances.get(asset) ?? { booked: 0n, gathered: 0n };
      balances.set(asset, { booked: sum.booked + BigInt(booked), gathered: sum.gathered + BigInt(gathered) });
    }
    return {
      ...{ tenantId, walletId, isHalted, finalNonce: Number(nonces.finalNonce), balances },
      statedNonce: nonces.statedNonce === null ? null : Number(nonces.statedNonce),
      lowestOpen: nonces.lowestOpen === null ? null : Number(nonces.lowestOpen),
    };
  });
}

/** Served by the primary key. */
export function passOver(tx: Tx, wallets: readonly ListedWallet[], at: number): void {
  const column = <T>(pick: (wallet: ListedWallet) => T) => wallets.map(pick);
  tx.send(sql`
    UPDATE chain_wallets w SET compared_number = ${at}
    FROM ${locateRows(
      sql`chain_wallets`,
      sql`unnest(
        ${column(({ tenantId }) => tenantId)}::uuid[], ${column(({ walletId }) => walletId)}::uuid[],
        ${column(({ comparedNumber }) => comparedNumber)}::bigint[], ${column(({ statedNonce }) => statedNonce)}::bigint[],
        ${column(({ isHalted }) => isHalted)}::boolean[]
      ) AS given (tenant_id, wallet_id, compared_number, stated_nonce, is_halted)`,
      sql`r.tenant_id = given.tenant_id AND r.wallet_id = given.wallet_id`,
    )} AS given
    WHERE w.ctid = given.place AND w.compared_number = given.compared_number
      AND w.stated_nonce IS NOT DISTINCT FROM given.stated_nonce AND (w.halted_reason IS NOT NULL) = given.is_halted
  `);
}

/** Conflicts and rows are served by the primary keys. */
export function writeHoldings(
  tx: Tx,
  wallets: readonly WalletKey[],
  holdings: readonly Holding[],
  at: number,
): void {
  tx.send(sql`
    UPDATE chain_wallets w SET compared_number = ${at}
    FROM ${locateRows(
      sql`chain_wallets`,
      listWallets(wallets),
      sql`r.tenant_id = given.tenant_id AND r.wallet_id = given.wallet_id`,
    )} AS given WHERE w.ctid = given.place
  `);
  if (holdings.length === 0) return;
  const column = <T>(pick: (holding: Holding) => T) => holdings.map(pick);
  tx.send(sql`
    INSERT INTO chain_holdings (tenant_id, wallet_id, asset, on_chain, block_number)
    SELECT tenant_id, wallet_id, asset, on_chain, ${at} FROM unnest(
      ${column(({ tenantId }) => tenantId)}::uuid[], ${column(({ walletId }) => walletId)}::uuid[],
      ${column(({ asset }) => asset)}::text[], ${column(({ onChain }) => onChain)}::numeric[]
    ) AS given (tenant_id, wallet_id, asset, on_chain)
    ON CONFLICT (tenant_id, wallet_id, asset) DO UPDATE SET on_chain = excluded.on_chain, block_number = excluded.block_number
  `);
}
