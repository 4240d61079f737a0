import type { AuditDraft } from "../../../app/audit/audit-entry.js";
import type { WalletKey } from "../../../app/chain/chain-store.js";
import { aheadCodes } from "../../../app/chain/halt.js";
import type {
  SignedOfWallet,
  UnconfirmedList,
  UnconfirmedPage,
  UnconfirmedWallet,
  UnknownNonce,
} from "../../../app/chain/unconfirmed-wallet.js";
import { appendAudit } from "../../access/audit.js";
import type { Queryable, Tx } from "../../core/database.js";
import { lastDoubt } from "../../core/identity/database-epochs.js";
import { locateRows } from "../../core/rows/locate-rows.js";
import { type Statement, sql } from "../../core/sql.js";
import { listWaitingWallets } from "../ready-payments.js";
import { freeNonce, hasLaterNonces, lowestOpen } from "./free-nonce.js";

/** It grows with each epoch, and each time that the signer has shown a restore which began none. Served by the primary keys. */
export const currentEpoch = sql`(
  (SELECT number FROM database_epochs ORDER BY number DESC LIMIT 1)
  + ${lastDoubt})`;

/** An earlier version, which does not know nonces that were taken back, can have written the epoch beside one. */
export const isConfirmedOf = (row: Statement) =>
  sql`(${row}.confirmed_epoch >= ${currentEpoch} AND ${row}.reclaimed_from IS NULL)`;

/** Of the row `w`. */
export const isConfirmed = isConfirmedOf(sql`w`);

/** Of the row `w`: nothing without a nonce ends, because it may have been made. */
const isAhead = sql`(w.halted_code = ANY (${[...aheadCodes]}::text[]) OR NOT ${isConfirmed})`;

/** Those of these wallets, by their ids, that the chain or the signer may be ahead of. Served by the primary key. */
export async function listBehindChain(
  tx: Queryable,
  wallets: readonly WalletKey[],
): Promise<ReadonlySet<string>> {
  if (wallets.length === 0) return new Set();
  const rows = await tx.query<{ walletId: string }>(sql`
    SELECT w.wallet_id AS "walletId" FROM ${listWallets(wallets)} CROSS JOIN LATERAL (
      SELECT * FROM chain_wallets w
      WHERE w.tenant_id = given.tenant_id AND w.wallet_id = given.wallet_id LIMIT 1) AS w
    WHERE ${isAhead}
  `);
  return new Set(rows.map(({ walletId }) => walletId));
}

export async function listUnconfirmed(
  database: Queryable,
  network: string,
  page: UnconfirmedPage,
): Promise<UnconfirmedList> {
  return page.of === "waiting"
    ? await listWaiting(database, network, page)
    : await listInOrder(database, network, page);
}

/** Served by chain_wallets_unconfirmed and chain_wallets_reclaimed. */
async function listInOrder(
  database: Queryable,
  network: string,
  { of, after, limit }: UnconfirmedPage & { of: "all" | "halted" },
): Promise<UnconfirmedList> {
  const select = (isListed: Statement) => sql`(
    SELECT * FROM chain_wallets w
    WHERE w.network = ${network} AND ${isListed}
      AND (w.confirmed_epoch, w.wallet_id) > (${after?.confirmedEpoch ?? Number.MIN_SAFE_INTEGER}::bigint, ${after?.walletId ?? leastId}::uuid)
    ORDER BY w.network, w.confirmed_epoch, w.wallet_id LIMIT ${limit})`;
  const selected =
    of === "halted"
      ? select(sql`w.confirmed_epoch <= 0 AND ${isUndoubted} AND NOT ${isNotAhead}`)
      : sql`${select(sql`w.confirmed_epoch < ${currentEpoch} AND ${isNotAhead}`)} UNION ALL
        ${select(sql`w.confirmed_epoch >= ${currentEpoch} AND w.reclaimed_from IS NOT NULL AND ${isNotAhead}`)}`;
  const rows = await database.query<UnconfirmedRow>(sql`
    SELECT ${unconfirmedColumns} FROM (${selected}) AS w
    ORDER BY w.confirmed_epoch, w.wallet_id LIMIT ${limit}
  `);
  const wallets = rows.map(readUnconfirmed);
  return { wallets, next: rows.length < limit ? undefined : { of, after: wallets.at(-1), limit } };
}

/** Served by chain_payments_ready and the primary key. */
async function listWaiting(
  database: Queryable,
  network: string,
  { afterWalletId = leastId, limit }: UnconfirmedPage & { of: "waiting" },
): Promise<UnconfirmedList> {
  const waiting = await listWaitingWallets(database, network, afterWalletId, limit);
  if (waiting.length === 0) return { wallets: [], next: undefined };
  const rows = await database.query<UnconfirmedRow>(sql`
    SELECT ${unconfirmedColumns} FROM ${listWallets(waiting)} CROSS JOIN LATERAL (
      SELECT * FROM chain_wallets w
      WHERE w.tenant_id = given.tenant_id AND w.wallet_id = given.wallet_id LIMIT 1) AS w
    WHERE NOT ${isConfirmed} AND ${isNotAhead}
  `);
  const last = waiting.length < limit ? undefined : waiting.at(-1)?.walletId;
  return {
    wallets: rows.map(readUnconfirmed),
    next: last === undefined ? undefined : { of: "waiting", afterWalletId: last, limit },
  };
}

const isNotAhead = sql`(w.halted_code IS NULL OR w.halted_code <> ALL (${[...aheadCodes]}::text[]))`;

/** A payment above one that is open can have ended if the signer has refused that one: it has bound the nonce to another. */
const unconfirmedColumns = sql`
  w.tenant_id AS "tenantId", w.wallet_id AS "walletId", w.address, least(w.final_nonce, ${lowestOpen}, ${freeNonce}) AS "finalNonce",
  ${freeNonce} AS "nextNonce", ${hasLaterNonces} AS "hasLater",
  w.confirmed_epoch AS "confirmedEpoch", ${currentEpoch} AS epoch`;

type Numbers = "epoch" | "finalNonce" | "nextNonce" | "confirmedEpoch";
type UnconfirmedRow = Omit<UnconfirmedWallet, Numbers> & Record<Numbers, string>;

function readUnconfirmed(row: UnconfirmedRow): UnconfirmedWallet {
  return {
    ...row,
    finalNonce: Number(row.finalNonce),
    nextNonce: Number(row.nextNonce),
    confirmedEpoch: Number(row.confirmedEpoch),
    epoch: Number(row.epoch),
  };
}

export const leastId = "00000000-0000-0000-0000-000000000000";

/** Served by the primary key, one by one: the network and the wallets are locked meanwhile. */
export async function listUnknownNonces(
  tx: Queryable,
  network: string,
  signed: readonly SignedOfWallet[],
): Promise<UnknownNonce[]> {
  if (signed.length === 0) return [];
  const rows = await tx.query<{ index: string; isNoted: boolean }>(sql`
    SELECT given.index,
      (p.network, p.wallet_id, p.bound_nonce) IS NOT DISTINCT FROM (${network}::text, given.wallet_id, given.nonce) AS "isNoted"
    FROM unnest(
      ${signed.map(({ tenantId }) => tenantId)}::uuid[], ${signed.map(({ walletId }) => walletId)}::uuid[],
      ${signed.map(({ nonce }) => nonce)}::bigint[], ${signed.map(({ transactionId }) => transactionId)}::uuid[]
    ) WITH ORDINALITY AS given (tenant_id, wallet_id, nonce, transaction_id, index)
    LEFT JOIN LATERAL (
      SELECT p.network, p.wallet_id, p.nonce, p.bound_nonce FROM chain_payments p
      WHERE p.tenant_id = given.tenant_id AND p.transaction_id = given.transaction_id LIMIT 1) AS p ON true
    WHERE (p.network, p.wallet_id, p.nonce) IS DISTINCT FROM (${network}::text, given.wallet_id, given.nonce)
    ORDER BY given.index
  `);
  return rows.flatMap(({ index, isNoted }) => {
    const one = signed[Number(index) - 1];
    return one === undefined ? [] : [{ ...one, isNoted }];
  });
}

/** Served by the primary key. */
export function confirmWallets(tx: Tx, wallets: readonly WalletKey[], epoch: number): void {
  if (wallets.length === 0) return;
  tx.send(sql`
    UPDATE chain_wallets w SET confirmed_epoch = ${epoch}, reclaimed_from = NULL
    FROM ${locateRows(
      sql`chain_wallets`,
      listWallets(wallets),
      sql`r.tenant_id = given.tenant_id AND r.wallet_id = given.wallet_id`,
    )} AS given WHERE w.ctid = given.place
  `);
}

/**
 * One row, so that a million wallets cost no more than one. A wallet that an epoch or an earlier doubt has made unconfirmed shows nothing new, also
 * if it was halted before. What another driver finds at the same time is the same doubt. Served by primary keys.
 */
export async function doubtWallets(
  tx: Tx,
  network: string,
  wallets: readonly WalletKey[],
  entry: AuditDraft,
): Promise<boolean> {
  if (wallets.length === 0) return false;
  const doubts = await tx.query(sql`
    INSERT INTO wallet_doubts (number, network)
    SELECT ${lastDoubt} + 1, ${network}
    WHERE EXISTS (
      SELECT FROM ${listWallets(wallets)} CROSS JOIN LATERAL (
        SELECT * FROM chain_wallets w
        WHERE w.tenant_id = given.tenant_id AND w.wallet_id = given.wallet_id LIMIT 1) AS w
      WHERE ${isUndoubted})
    ON CONFLICT DO NOTHING RETURNING number
  `);
  await tx.query(sql`
    UPDATE chain_wallets w SET confirmed_epoch = ${currentEpoch} - 1
    FROM ${locateRows(
      sql`chain_wallets`,
      listWallets(wallets),
      sql`r.tenant_id = given.tenant_id AND r.wallet_id = given.wallet_id`,
    )} AS given WHERE w.ctid = given.place AND ${isUndoubted}
  `);
  if (doubts.length > 0) await appendAudit(tx, [entry]);
  return doubts.length > 0;
}

/** When the database or the signer has shown the last restore; null if none has. The first epoch is none. Served by the primary keys. */
const lastRestore = sql`greatest(
  (SELECT started_at FROM database_epochs WHERE number > 1 ORDER BY number DESC LIMIT 1),
  (SELECT found_at FROM wallet_doubts ORDER BY number DESC LIMIT 1))`;

/** Of the row `w`: as `wasConfirmed`, or it still is. What an earlier version has halted before the last restore was noticed is known from that. */
const isUndoubted = sql`(abs(w.confirmed_epoch) >= ${currentEpoch}
  OR w.confirmed_epoch = 0 AND (w.halted_at < ${lastRestore}) IS NOT TRUE)`;

export function listWallets(wallets: readonly WalletKey[]): Statement {
  return sql`unnest(
    ${wallets.map(({ tenantId }) => tenantId)}::uuid[], ${wallets.map(({ walletId }) => walletId)}::uuid[]
  ) AS given (tenant_id, wallet_id)`;
}
