import type { WalletKey } from "../../app/chain/chain-store.js";
import type { ListedReady, ReadyPage } from "../../app/chain/ready-page.js";
import type { TransactionKey } from "../../app/transactions/settlement.js";
import { type Database, type Queryable, requireKeys } from "../core/database.js";
import { listKeys } from "../core/rows/locate-rows.js";
import { type Statement, sql } from "../core/sql.js";
import { isCancelRequested, isDisabled, isFreezing, isFrozen, isSuspended } from "./payment-holds.js";
import {
  cancelRequested,
  checkedColumns,
  joinFacts,
  joinOpen,
  type ReadyRow,
  readReady,
} from "./payment-rows.js";
import { hasRow, isDelisted } from "./wallets/removed-addresses.js";

export const leastId = "00000000-0000-0000-0000-000000000000";

/** Whether `p`, which has no nonce, waits or fails. Served by primary keys. */
const isHeld = sql`(${isSuspended} OR ${isDisabled})`;
const failsFrozen = sql`(${isFrozen} OR ${isFreezing})`;

/** Served by the primary key. */
const isHalted = hasRow(
  sql`chain_wallets h WHERE h.tenant_id = p.tenant_id AND h.wallet_id = p.wallet_id AND h.halted_reason IS NOT NULL`,
);

/** What has ended must not take the places of others. Served by the primary key. */
const isOpen = sql`open_transactions o WHERE o.tenant_id = p.tenant_id AND o.id = p.transaction_id`;

/** How many payments of a wallet are looked at for some that are not held. */
const lookedAtMax = 1000;

/** A wallet, and what of its payments is looked at. */
interface Looked {
  walletId: string;
  afterId: string;
  passedOver: number;
}

/** What waits for a nonce, wallet by wallet. */
export async function listReady(
  database: Database,
  network: string,
  { walletsMax, afterWalletId = leastId, inFlightMax, bound, turns }: ReadyPage,
): Promise<ListedReady> {
  const waiting = await listWaitingWallets(database, network, afterWalletId, walletsMax);
  if (waiting.length === 0) return { payments: [], lastWalletId: undefined, lookedUpTo: new Map() };
  const wallets = waiting.map(({ walletId }): Looked => {
    const { afterId = leastId, passedOver = 0 } = turns.get(walletId) ?? {};
    return { walletId, afterId: afterId ?? leastId, passedOver: Math.min(passedOver, lookedAtMax) };
  });
  const oldest = await database.query<ReadyRow>(selectReady(network, wallets, inFlightMax));
  const isListed = new Set(wallets.map(({ walletId }) => walletId));
  const named = bound.filter(({ walletId }) => isListed.has(walletId));
  const first = named.length === 0 ? [] : await database.query<ReadyRow>(selectBound(network, named));
  const rows = new Map([...first, ...oldest].map((row) => [row.id, row]));
  const ordered = [...rows.values()].sort((a, b) =>
    a.walletId < b.walletId ? -1 : a.walletId > b.walletId ? 1 : 0,
  );
  const counts = new Map<string, number>();
  for (const { walletId } of oldest) counts.set(walletId, (counts.get(walletId) ?? 0) + 1);
  const crowded = wallets.filter(({ walletId, passedOver }) => (counts.get(walletId) ?? 0) <= passedOver);
  const keys = requireKeys(database);
  return {
    payments: ordered.map((row) => readReady(row, keys)),
    lastWalletId: wallets.length < walletsMax ? undefined : wallets.at(-1)?.walletId,
    lookedUpTo: await findLooked(database, network, crowded, inFlightMax),
  };
}

/** The last payments that were looked at, if there can be more behind them. Served by chain_payments_ready and chain_payments_open. */
async function findLooked(
  source: Queryable,
  network: string,
  wallets: readonly Looked[],
  inFlightMax: number,
): Promise<ReadonlyMap<string, string | undefined>> {
  if (wallets.length === 0) return new Map();
  const rows = await source.query<{ walletId: string; lastId: string | null }>(sql`
    SELECT given.wallet_id AS "walletId", (
      SELECT p.transaction_id FROM chain_payments p WHERE ${isLookedAt(network)}
      ORDER BY p.network, p.wallet_id, p.transaction_id OFFSET ${lookedAtMax - 1} LIMIT 1) AS "lastId"
    FROM ${listLooked(wallets)} ${joinFree(network, inFlightMax)} WHERE free.room > 0
  `);
  return new Map(rows.map(({ walletId, lastId }) => [walletId, lastId ?? undefined]));
}

function listLooked(wallets: readonly Looked[]): Statement {
  return sql`unnest(
    ${wallets.map(({ walletId }) => walletId)}::uuid[], ${wallets.map(({ afterId }) => afterId)}::uuid[],
    ${wallets.map(({ passedOver }) => passedOver)}::bigint[]) AS given (wallet_id, after_id, passed_over)`;
}

const isLookedAt = (network: string): Statement => sql`
  p.network = ${network} AND p.stage = 'ready' AND p.wallet_id = given.wallet_id AND p.transaction_id > given.after_id`;

/** How many more payments of the wallet may be in flight; of one that is halted, at least one is to be cancelled. */
const joinFree = (network: string, inFlightMax: number): Statement => sql`
  CROSS JOIN LATERAL (
    SELECT greatest(${inFlightMax}::bigint - count(*), CASE WHEN bool_or(f.halted) THEN 1 ELSE 0 END) AS room FROM (
      SELECT ${isHalted} AS halted FROM chain_payments p
      WHERE p.network = ${network} AND p.wallet_id = given.wallet_id AND p.stage IN ('assigned', 'signed')
      LIMIT ${inFlightMax}) AS f) AS free`;

/** From wallet to wallet, one look into chain_payments_ready for each: one with a million payments costs as much as one with a single one. */
export async function listWaitingWallets(
  source: Queryable,
  network: string,
  afterWalletId: string,
  limit: number,
): Promise<WalletKey[]> {
  const next = (wallet: Statement) => sql`
    SELECT p.tenant_id, p.wallet_id FROM chain_payments p
    WHERE p.network = ${network} AND p.stage = 'ready' AND p.wallet_id > ${wallet}
    ORDER BY p.network, p.wallet_id LIMIT 1`;
  return await source.query<WalletKey>(sql`
    WITH RECURSIVE waiting AS (
      (SELECT begun.tenant_id, begun.wallet_id, 1 AS place FROM (${next(sql`${afterWalletId}::uuid`)}) AS begun)
      UNION ALL
      SELECT next.tenant_id, next.wallet_id, last.place + 1
      FROM waiting AS last CROSS JOIN LATERAL (${next(sql`last.wallet_id`)}) AS next WHERE last.place < ${limit})
    SELECT tenant_id AS "tenantId", wallet_id AS "walletId" FROM waiting ORDER BY wallet_id
  `);
}

/**
 * As many of each wallet as it has room for; of one that is halted, what is to be cancelled. Those that the signer has bound to one nonce come last:
 * they may get none, and must not take the places of others. Served by chain_payments_ready, chain_payments_open, destinations_removed, destinations_listed and
 * primary keys.
 */
function selectReady(network: string, wallets: readonly Looked[], inFlightMax: number): Statement {
  return sql`
    SELECT ${checkedColumns}, ${cancelRequested} AS "cancelRequested", p.frozen AS "isFrozen", p.delisted AS "isDelisted",
      p.bound_nonce AS "boundNonce"
    FROM ${listLooked(wallets)} ${joinFree(network, inFlightMax)}
    CROSS JOIN LATERAL (
      SELECT p.tenant_id, p.transaction_id AS id, p.wallet_id, p.network, p.key_id, p.mac, p.bound_nonce, ${failsFrozen} AS frozen,
        ${isDelisted} AS delisted FROM (
        SELECT * FROM chain_payments p
        WHERE ${isLookedAt(network)}
        ORDER BY p.network, p.wallet_id, p.transaction_id LIMIT ${lookedAtMax}) AS p
      WHERE ${hasRow(isOpen)} AND (${isCancelRequested}
        OR (NOT ${isHalted} AND (${failsFrozen} OR NOT ${isHeld})))
      ORDER BY p.bound_nonce IS NOT NULL, p.transaction_id
      LIMIT CASE WHEN free.room > 0 THEN free.room + given.passed_over ELSE 0 END) AS p
    ${joinFacts} ${joinOpen}
    ORDER BY p.wallet_id, p.id`;
}

/** Those of suspended tenants and disabled clients too: the nonce must be used. Served by destinations_removed, destinations_listed and primary keys. */
function selectBound(network: string, keys: readonly TransactionKey[]): Statement {
  return sql`
    SELECT ${checkedColumns}, ${cancelRequested} AS "cancelRequested", p.frozen AS "isFrozen", p.delisted AS "isDelisted",
      p.bound_nonce AS "boundNonce"
    FROM ${listKeys(keys)} CROSS JOIN LATERAL (
      SELECT p.tenant_id, p.transaction_id AS id, p.wallet_id, p.network, p.stage, p.key_id, p.mac, p.bound_nonce, ${failsFrozen} AS frozen,
        ${isDelisted} AS delisted FROM chain_payments p
      WHERE p.tenant_id = given.tenant_id AND p.transaction_id = given.id LIMIT 1) AS p
    ${joinFacts} ${joinOpen}
    WHERE p.network = ${network} AND p.stage = 'ready'
    ORDER BY p.wallet_id, p.id`;
}
