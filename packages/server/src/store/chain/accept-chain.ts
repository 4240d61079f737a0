import type { ChainUnit, WalletKey } from "../../app/chain/chain-store.js";
import type { SignedNonce } from "../../app/chain/signer.js";
import type { GatheredAmount, NewLoss } from "../../app/chain/wallet-books.js";
import { operatorActorId } from "../../app/events/actor.js";
import type { TransactionKey } from "../../app/transactions/settlement.js";
import { type KeyedQueryable, type Queryable, requireKeys, type Tx } from "../core/database.js";
import { listKeys } from "../core/rows/locate-rows.js";
import { sql } from "../core/sql.js";
import { macOfTransaction } from "../transactions/transaction-integrity.js";
import { factColumns, joinFacts, joinOpen, readTaken, type TakenRow } from "./payment-rows.js";

/** Served by chain_payments_open, and for the attempts by their unique key; at most as many as an address may have in flight. */
export async function listTaken(
  tx: Queryable,
  network: string,
  { tenantId, walletId }: WalletKey,
  below: number,
): ReturnType<ChainUnit["listTaken"]> {
  const rows = await tx.query<TakenRow>(sql`
    SELECT ${factColumns}, p.nonce, p.attempt, o.state = 'broadcast' AS "isBroadcast", ARRAY(
      SELECT a.hash FROM chain_attempts a
      WHERE a.tenant_id = p.tenant_id AND a.transaction_id = p.id ORDER BY a.number) AS hashes
    FROM (
      SELECT *, p.transaction_id AS id FROM chain_payments p
      WHERE p.network = ${network} AND p.wallet_id = ${walletId} AND p.tenant_id = ${tenantId} AND p.nonce < ${below}
        AND p.stage IN ('assigned', 'signed')
      ORDER BY p.transaction_id FOR UPDATE) AS p
    ${joinFacts} ${joinOpen}
    ORDER BY p.id
  `);
  return rows.map(readTaken);
}

/** Served by the primary key. */
export async function lockOpen(tx: Queryable, keys: readonly TransactionKey[]): Promise<void> {
  if (keys.length === 0) return;
  await tx.query(sql`
    SELECT FROM (SELECT * FROM ${listKeys(keys)} ORDER BY tenant_id, id) AS given
    CROSS JOIN LATERAL (
      SELECT FROM open_transactions o WHERE o.tenant_id = given.tenant_id AND o.id = given.id FOR UPDATE) AS o
  `);
}

/** Those that have not begun too. Served by primary keys and the unique key of nonces. */
export async function listForgotten(
  tx: Queryable,
  network: string,
  { tenantId, walletId }: WalletKey,
  signed: readonly SignedNonce[],
): ReturnType<ChainUnit["listForgotten"]> {
  if (signed.length === 0) return [];
  const rows = await tx.query<TakenRow & { isOccupied: boolean; isBegun: boolean }>(sql`
    SELECT ${factColumns}, p.bound AS nonce, coalesce(p.attempt, 0) AS attempt, false AS "isBroadcast", ARRAY[]::text[] AS hashes,
      p.stage IS NOT NULL AS "isBegun", n.nonce IS NOT NULL AS "isOccupied"
    FROM (
      SELECT ${tenantId}::uuid AS tenant_id, given.id, ${walletId}::uuid AS wallet_id, given.nonce AS bound, c.network, c.stage, c.attempt
      FROM (
        SELECT * FROM unnest(
          ${signed.map(({ transactionId }) => transactionId)}::uuid[], ${signed.map(({ nonce }) => nonce)}::bigint[]
        ) AS given (id, nonce) ORDER BY id) AS given
      LEFT JOIN LATERAL (
        SELECT c.network, c.stage, c.attempt FROM chain_payments c
        WHERE c.tenant_id = ${tenantId} AND c.transaction_id = given.id FOR UPDATE) AS c ON true) AS p
    LEFT JOIN LATERAL (
      SELECT n.nonce FROM chain_payments n
      WHERE n.tenant_id = p.tenant_id AND n.wallet_id = p.wallet_id AND n.nonce = p.bound LIMIT 1) AS n ON true
    ${joinFacts} ${joinOpen}
    WHERE t.source_account_id = p.wallet_id AND (p.stage IS NULL OR (p.stage = 'ready' AND p.network = ${network}))
    ORDER BY p.id
  `);
  return rows.map((row) => ({ ...readTaken(row), isOccupied: row.isOccupied, isBegun: row.isBegun }));
}

/**
 * What the payments that are in no settled block pay to these wallets. Read if something was received that no settled block shows. Each stage is
 * looked at by its own index, because the condition of none follows from a list of all stages: chain_payments_ready, chain_payments_open,
 * chain_payments_included, and the primary key of transactions.
 */
export async function listAwaiting(
  tx: Queryable,
  network: string,
  amounts: readonly GatheredAmount[],
  settledNumber: number,
): Promise<GatheredAmount[]> {
  if (amounts.length === 0) return [];
  const rows = await tx.query<Omit<GatheredAmount, "amount"> & { amount: string }>(sql`
    SELECT given.tenant_id AS "tenantId", given.wallet_id AS "walletId", given.asset, sum(t.amount) AS amount
    FROM unnest(
      ${amounts.map(({ tenantId }) => tenantId)}::uuid[], ${amounts.map(({ walletId }) => walletId)}::uuid[],
      ${amounts.map(({ asset }) => asset)}::text[]
    ) AS given (tenant_id, wallet_id, asset)
    JOIN (
      SELECT p.tenant_id, p.transaction_id FROM chain_payments p WHERE p.network = ${network} AND p.stage = 'ready'
      UNION ALL
      SELECT p.tenant_id, p.transaction_id FROM chain_payments p
      WHERE p.network = ${network} AND p.stage IN ('assigned', 'signed')
      UNION ALL
      SELECT p.tenant_id, p.transaction_id FROM chain_payments p
      WHERE p.network = ${network} AND p.stage = 'included' AND p.block_number > ${settledNumber}
    ) AS p ON p.tenant_id = given.tenant_id
    JOIN transactions t ON t.tenant_id = p.tenant_id AND t.id = p.transaction_id
      AND t.destination_account_id = given.wallet_id AND t.asset = given.asset
    GROUP BY given.tenant_id, given.wallet_id, given.asset
  `);
  return rows.map(({ amount, ...key }) => ({ ...key, amount: BigInt(amount) }));
}

/** Served by the primary key. */
export function adoptNonce(tx: Tx, { tenantId, walletId }: WalletKey, finalNonce: number): void {
  tx.send(sql`
    UPDATE chain_wallets SET final_nonce = ${finalNonce}, next_nonce = greatest(next_nonce, ${finalNonce}), compared_number = -1,
      reclaimed_from = CASE WHEN reclaimed_from IS NOT NULL THEN greatest(reclaimed_from, ${finalNonce}::bigint) END
    WHERE tenant_id = ${tenantId} AND wallet_id = ${walletId}
  `);
}

/** Served by the primary key. */
export function resumeWallet(tx: Tx, { tenantId, walletId }: WalletKey): void {
  tx.send(sql`
    UPDATE chain_wallets SET halted_code = NULL, halted_reason = NULL, halted_at = NULL, stated_nonce = NULL,
      compared_number = -1
    WHERE tenant_id = ${tenantId} AND wallet_id = ${walletId}
  `);
}

/** By the operator, who has accepted them. The unique key on the idempotency key refuses the same one twice. */
export async function insertLosses(
  tx: KeyedQueryable,
  network: string,
  losses: readonly NewLoss[],
): Promise<void> {
  const keys = requireKeys(tx);
  const column = <T>(pick: (loss: NewLoss) => T) => losses.map(pick);
  const macOf = ({ tenantId, id, asset, amount, walletId, outsideId, address }: NewLoss) =>
    macOfTransaction(keys, {
      ...{
        tenantId,
        id,
        kind: "payout",
        clientId: operatorActorId,
        network,
        asset,
        amount: amount.toString(),
      },
      ...{ sourceAccountId: walletId, destinationAccountId: outsideId, destinationAddress: address },
      ...{ expiresAt: null, needsJudgement: false },
    }).mac.toString("hex");
  await tx.query(sql`
    WITH inserted AS (
      INSERT INTO transactions
        (tenant_id, id, idempotency_key, request_hash, client_id, reference, asset, amount, kind, source_account_id, destination_account_id,
         destination_address, created_at, key_id, mac)
      SELECT tenant_id, id, key, hash, ${operatorActorId}::uuid, reference, asset, amount, 'payout', source, destination, address, created_at,
        ${keys.currentId}, decode(mac, 'hex')
      FROM unnest(
        ${column((l) => l.tenantId)}::uuid[], ${column((l) => l.id)}::uuid[], ${column((l) => l.idempotencyKey)}::text[],
        ${column((l) => `\\x${l.requestHash}`)}::bytea[], ${column((l) => l.reference)}::text[], ${column((l) => l.asset)}::text[],
        ${column((l) => l.amount)}::numeric[], ${column((l) => l.walletId)}::uuid[], ${column((l) => l.outsideId)}::uuid[],
        ${column((l) => l.address)}::text[], ${column((l) => l.createdAt)}::timestamptz[],
        ${column(macOf)}::text[]
      ) AS lost (tenant_id, id, key, hash, reference, asset, amount, source, destination, address, created_at, mac)
      RETURNING tenant_id, id)
    INSERT INTO open_transactions (tenant_id, id, state, version) SELECT tenant_id, id, 'accepted', 1 FROM inserted
  `);
}
