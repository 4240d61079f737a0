import type { ChainUnit } from "../../app/chain/chain-store.js";
import type { LockedSender } from "../../app/chain/locked-sender.js";
import { isStopped } from "../access/stops/stop-records.js";
import type { Queryable, Tx } from "../core/database.js";
import { sql } from "../core/sql.js";
import { isWalletFrozen, joinWallet } from "../wallets/lock-wallets.js";
import { lowestBound } from "./wallets/bound-nonces.js";
import { currentEpoch, isConfirmed } from "./wallets/confirmed-wallets.js";
import { freeNonce, hasLaterNonces } from "./wallets/free-nonce.js";

type Numbers = "nextNonce" | "epoch" | "inFlight";
type SenderRow = Omit<LockedSender, Numbers | "boundNonce" | "isFrozen"> &
  Record<Numbers, string> & { boundNonce: string | null };

/** Locks senders in the order of their keys. Served by the primary key, chain_payments_open and chain_payments_bound. */
export async function lockSenders(
  tx: Queryable,
  network: string,
  wallets: Parameters<ChainUnit["lockSenders"]>[0],
): Promise<LockedSender[]> {
  const rows = await tx.query<SenderRow>(sql`
    SELECT w.tenant_id AS "tenantId", w.wallet_id AS "walletId", ${freeNonce} AS "nextNonce", ${hasLaterNonces} AS "hasLater",
      ${lowestBound} AS "boundNonce", w.halted_reason IS NOT NULL AS "isHalted", w.halted_code AS "haltedCode",
      ${isConfirmed} AS "isConfirmed", ${currentEpoch} AS epoch, (
        SELECT count(*) FROM chain_payments f
        WHERE f.network = ${network} AND f.wallet_id = w.wallet_id AND f.stage IN ('assigned', 'signed')) AS "inFlight"
    FROM (
      SELECT * FROM unnest(
        ${wallets.map(({ tenantId }) => tenantId)}::uuid[], ${wallets.map(({ walletId }) => walletId)}::uuid[]
      ) AS given (tenant_id, wallet_id) ORDER BY tenant_id, wallet_id) AS given
    CROSS JOIN LATERAL (
      SELECT * FROM chain_wallets w
      WHERE w.tenant_id = given.tenant_id AND w.wallet_id = given.wallet_id FOR UPDATE) AS w
  `);
  const frozen = await lockAgainstFreeze(tx, wallets);
  return rows.map((row) => ({
    ...row,
    isFrozen: frozen.has(row.walletId),
    nextNonce: Number(row.nextNonce),
    boundNonce: row.boundNonce === null ? null : Number(row.boundNonce),
    epoch: Number(row.epoch),
    inFlight: Number(row.inFlight),
  }));
}

/** A later statement finds them by their places, which a change that it had to wait for would have moved. Served by the primary key. */
export function lockWallets(tx: Tx, wallets: Parameters<ChainUnit["lockWallets"]>[0]): void {
  if (wallets.length === 0) return;
  tx.send(sql`
    SELECT FROM (
      SELECT * FROM unnest(
        ${wallets.map(({ tenantId }) => tenantId)}::uuid[], ${wallets.map(({ walletId }) => walletId)}::uuid[]
      ) AS given (tenant_id, wallet_id) ORDER BY tenant_id, wallet_id) AS given
    CROSS JOIN LATERAL (
      SELECT FROM chain_wallets w
      WHERE w.tenant_id = given.tenant_id AND w.wallet_id = given.wallet_id FOR NO KEY UPDATE) AS w
  `);
}

/** Returns those that are frozen. Only freezes lock these rows exclusively, and they wait for nothing of a driver. Served by the primary key. */
async function lockAgainstFreeze(
  tx: Queryable,
  wallets: Parameters<ChainUnit["lockSenders"]>[0],
): Promise<ReadonlySet<string>> {
  const rows = await tx.query<{ id: string; isFrozen: boolean }>(sql`
    SELECT given.wallet_id AS id, ${isWalletFrozen} OR ${isStopped(sql`given.tenant_id`, sql`given.wallet_id`)} AS "isFrozen"
    FROM (
      SELECT * FROM unnest(
        ${wallets.map(({ tenantId }) => tenantId)}::uuid[], ${wallets.map(({ walletId }) => walletId)}::uuid[]
      ) AS given (tenant_id, wallet_id) ORDER BY tenant_id, wallet_id) AS given
    ${joinWallet(sql`given`, sql`given.wallet_id`)}
  `);
  return new Set(rows.filter((row) => row.isFrozen).map(({ id }) => id));
}
