import type {
  ChainStore,
  ChainUnit,
  FoundAttempt,
  IncludedPayment,
  PaymentState,
  WalletKey,
} from "../../app/chain/chain-store.js";
import type { TransactionKey } from "../../app/transactions/settlement.js";
import { type Database, type Queryable, requireKeys } from "../core/database.js";
import { listKeys } from "../core/rows/locate-rows.js";
import { type Statement, sql } from "../core/sql.js";
import {
  holdColumns,
  isDisabled,
  isExpired,
  isFreezing,
  isFrozen,
  isStoppedOrWaits,
  isSuspended,
  unsignedHoldColumns,
} from "./payment-holds.js";
import {
  checkedColumns,
  type FoundRow,
  factColumns,
  type IncludedRow,
  joinFacts,
  joinOpen,
  type ReadyRow,
  readFound,
  readIncluded,
  readReady,
  readSent,
  readUnsigned,
  type SentRow,
  type UnsignedRow,
} from "./payment-rows.js";
import { hasWallet } from "./unowned-rows.js";
import { freeNonce } from "./wallets/free-nonce.js";
import { hasRow, isDelisted } from "./wallets/removed-addresses.js";

const leastId = "00000000-0000-0000-0000-000000000000";

/** Before any limit: what a halted wallet has must not take the places of others. */
const isNotHalted = sql`NOT EXISTS (
  SELECT FROM chain_wallets h WHERE h.tenant_id = p.tenant_id AND h.wallet_id = p.wallet_id AND h.halted_reason IS NOT NULL)`;

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

/** What the driver lists before it talks to a node or a signer. */
export function createPaymentReads(
  database: Database,
): Pick<ChainStore, "findAttempts" | "listReady" | "listUnsigned" | "listSent" | "readBytes"> {
  return {
    // Served by the primary key.
    findAttempts: async (network, hashes) => {
      const rows = await database.query<{ hash: string }>(sql`
        SELECT a.hash FROM unnest(${[...hashes]}::text[]) AS given (hash) CROSS JOIN LATERAL (
          SELECT a.hash FROM chain_attempts a WHERE a.network = ${network} AND a.hash = given.hash LIMIT 1) AS a
      `);
      return new Set(rows.map(({ hash }) => hash));
    },
    listReady: async (network, { walletsMax, afterWalletId = leastId, inFlightMax, bound }) => {
      const wallets = await listWaitingWallets(database, network, afterWalletId, walletsMax);
      if (wallets.length === 0) return { payments: [], lastWalletId: undefined };
      const ids = wallets.map(({ walletId }) => walletId);
      const oldest = await database.query<ReadyRow>(selectReady(network, ids, inFlightMax));
      const isListed = new Set(ids);
      const named = bound.filter(({ walletId }) => isListed.has(walletId));
      const first = named.length === 0 ? [] : await database.query<ReadyRow>(selectBound(network, named));
      const rows = new Map([...first, ...oldest].map((row) => [row.id, row]));
      const ordered = [...rows.values()].sort((a, b) =>
        a.walletId < b.walletId ? -1 : a.walletId > b.walletId ? 1 : 0,
      );
      const lastWalletId = ids.length < walletsMax ? undefined : ids.at(-1);
      const keys = requireKeys(database);
      return { payments: ordered.map((row) => readReady(row, keys)), lastWalletId };
    },
    // Served by chain_payments_to_sign, destinations_removed, destinations_listed and primary keys.
    listUnsigned: async (network, limit) => {
      const rows = await database.query<UnsignedRow>(sql`
        SELECT ${checkedColumns}, p.nonce, p.wanted AS number, p.purpose, p.gas_limit AS "gasLimit", p.data_fee AS "dataFee",
          p.max_fee AS "maxFee", p.max_tip AS "maxTip", p.terms_key_id AS "termsKeyId", p.terms_mac AS "termsMac",
          ${unsignedHoldColumns}
        FROM (
          SELECT *, p.transaction_id AS id FROM chain_payments p
          WHERE p.network = ${network} AND p.wanted > p.attempt AND p.stage IN ('assigned', 'signed') AND ${isNotHalted}
            AND (p.purpose = 'cancellation' OR (NOT ${isFreezing} AND (p.stage = 'assigned' OR NOT ${isStoppedOrWaits})))
          ORDER BY p.network, p.transaction_id LIMIT ${limit}) AS p
        ${joinFacts}
        ORDER BY p.wallet_id, p.nonce
      `);
      const keys = requireKeys(database);
      return rows.map((row) => readUnsigned(row, keys));
    },
    // Served by chain_payments_open, the unique keys of attempts and of nonces, and primary keys.
    listSent: async (network, limit, after = { walletId: leastId, nonce: -1 }) => {
      const rows = await database.query<SentRow>(sql`
        SELECT ${factColumns}, p.nonce, a.number, a.hash, a.purpose, a.gas_limit AS "gasLimit", p.data_fee AS "dataFee",
          a.max_fee AS "maxFee", a.max_tip AS "maxTip", p.terms_number AS "termsNumber",
          CASE WHEN p.wanted > p.attempt THEN p.purpose END AS unsigned, o.cancel_requested AS "cancelRequested", ${holdColumns},
          ${isFreezing} AS "isFreezing", p.speed_up_requested AS "speedUpRequested", ${freeNonce} < p.nonce AS "waitsForFree"
        FROM (
          SELECT *, p.transaction_id AS id FROM chain_payments p
          WHERE p.network = ${network} AND p.stage IN ('assigned', 'signed') AND p.stage = 'signed' AND ${isNotHalted}
            AND (p.wallet_id, p.nonce) > (${after.walletId}::uuid, ${after.nonce}::bigint)
          ORDER BY p.network, p.wallet_id, p.nonce LIMIT ${limit}) AS p
        CROSS JOIN LATERAL (
          SELECT a.number, a.hash, a.purpose, a.gas_limit, a.max_fee, a.max_tip FROM chain_attempts a
          WHERE a.tenant_id = p.tenant_id AND a.transaction_id = p.transaction_id AND a.number = p.attempt LIMIT 1) AS a
        ${joinFacts} ${joinOpen}
        ORDER BY p.wallet_id, p.nonce
      `);
      return rows.map(readSent);
    },
    // Served by the primary key.
    readBytes: async (network, hashes) => {
      const rows = await database.query<{ hash: string; bytes: string }>(sql`
        SELECT given.hash, '0x' || encode(a.bytes, 'hex') AS bytes
        FROM unnest(${[...hashes]}::text[]) AS given (hash) CROSS JOIN LATERAL (
          SELECT a.bytes FROM chain_attempts a WHERE a.network = ${network} AND a.hash = given.hash LIMIT 1) AS a
      `);
      return new Map(rows.map(({ hash, bytes }) => [hash, bytes]));
    },
  };
}

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
function selectReady(network: string, wallets: readonly string[], inFlightMax: number): Statement {
  return sql`
    SELECT ${checkedColumns}, o.cancel_requested AS "cancelRequested", p.frozen AS "isFrozen", p.delisted AS "isDelisted",
      p.bound_nonce AS "boundNonce"
    FROM unnest(${[...wallets]}::uuid[]) AS given (wallet_id)
    CROSS JOIN LATERAL (
      SELECT greatest(${inFlightMax}::bigint - count(*), CASE WHEN bool_or(f.halted) THEN 1 ELSE 0 END) AS room FROM (
        SELECT ${isHalted} AS halted FROM chain_payments p
        WHERE p.network = ${network} AND p.wallet_id = given.wallet_id AND p.stage IN ('assigned', 'signed')
        LIMIT ${inFlightMax}) AS f) AS free
    CROSS JOIN LATERAL (
      SELECT p.tenant_id, p.transaction_id AS id, p.wallet_id, p.network, p.key_id, p.mac, p.bound_nonce, ${failsFrozen} AS frozen,
        ${isDelisted} AS delisted FROM (
        SELECT * FROM chain_payments p
        WHERE p.network = ${network} AND p.stage = 'ready' AND p.wallet_id = given.wallet_id
        ORDER BY p.network, p.wallet_id, p.transaction_id LIMIT ${lookedAtMax}) AS p
      WHERE ${hasRow(isOpen)} AND (${hasRow(sql`${isOpen} AND o.cancel_requested`)}
        OR (NOT ${isHalted} AND (${failsFrozen} OR NOT ${isHeld})))
      ORDER BY p.bound_nonce IS NOT NULL, p.transaction_id LIMIT free.room) AS p
    ${joinFacts} ${joinOpen}
    ORDER BY p.wallet_id, p.id`;
}

/** Those of suspended tenants and disabled clients too: the nonce must be used. Served by destinations_removed, destinations_listed and primary keys. */
function selectBound(network: string, keys: readonly TransactionKey[]): Statement {
  return sql`
    SELECT ${checkedColumns}, o.cancel_requested AS "cancelRequested", p.frozen AS "isFrozen", p.delisted AS "isDelisted",
      p.bound_nonce AS "boundNonce"
    FROM ${listKeys(keys)} CROSS JOIN LATERAL (
      SELECT p.tenant_id, p.transaction_id AS id, p.wallet_id, p.network, p.stage, p.key_id, p.mac, p.bound_nonce, ${failsFrozen} AS frozen,
        ${isDelisted} AS delisted FROM chain_payments p
      WHERE p.tenant_id = given.tenant_id AND p.transaction_id = given.id LIMIT 1) AS p
    ${joinFacts} ${joinOpen}
    WHERE p.network = ${network} AND p.stage = 'ready'
    ORDER BY p.wallet_id, p.id`;
}

/** Served by the primary keys, in whose order the rows are locked, by destinations_removed and destinations_listed. */
export async function lockPayments(
  tx: Queryable,
  keys: readonly TransactionKey[],
): Promise<ReadonlyMap<string, PaymentState>> {
  const rows = await tx.query<PaymentState & { id: string }>(sql`
    SELECT p.transaction_id AS id, p.stage, p.attempt, p.wanted, p.purpose, coalesce(o.cancel_requested, false) AS "cancelRequested",
      ${holdColumns}, ${isDelisted} AS "isDelisted", ${isExpired} AS "isExpired"
    FROM (SELECT * FROM ${listKeys(keys)} ORDER BY tenant_id, id) AS given
    CROSS JOIN LATERAL (
      SELECT * FROM chain_payments p
      WHERE p.tenant_id = given.tenant_id AND p.transaction_id = given.id FOR UPDATE) AS p
    LEFT JOIN LATERAL (
      SELECT o.cancel_requested FROM open_transactions o
      WHERE o.tenant_id = p.tenant_id AND o.id = p.transaction_id FOR UPDATE) AS o ON true
  `);
  return new Map(rows.map(({ id, ...state }) => [id, state]));
}

/** Served by the primary key, in whose order the rows are locked. */
export async function lockIncluded(tx: Queryable, keys: readonly TransactionKey[]): Promise<void> {
  if (keys.length === 0) return;
  await tx.query(sql`
    SELECT FROM (SELECT * FROM ${listKeys(keys)} ORDER BY tenant_id, id) AS given
    CROSS JOIN LATERAL (
      SELECT FROM chain_payments p
      WHERE p.tenant_id = given.tenant_id AND p.transaction_id = given.id FOR UPDATE) AS p
  `);
}

/** Served by primary keys. */
export async function findAttempts(
  tx: Queryable,
  network: string,
  hashes: readonly string[],
): Promise<FoundAttempt[]> {
  const rows = await tx.query<FoundRow>(sql`
    SELECT ${factColumns}, p.hash, p.purpose, p.nonce, p.stage
    FROM (
      SELECT a.hash, a.purpose, p.tenant_id, p.transaction_id AS id, p.wallet_id, p.nonce, p.stage
      FROM unnest(${[...hashes]}::text[]) AS given (hash)
      CROSS JOIN LATERAL (
        SELECT * FROM chain_attempts a WHERE a.network = ${network} AND a.hash = given.hash LIMIT 1) AS a
      CROSS JOIN LATERAL (
        SELECT * FROM chain_payments p
        WHERE p.tenant_id = a.tenant_id AND p.transaction_id = a.transaction_id LIMIT 1) AS p) AS p
    ${joinFacts}
  `);
  return rows.map(readFound);
}

/** Also those whose open transaction is missing, so that settling them fails. Served by chain_payments_included and primary keys. */
export async function listIncluded(
  tx: Queryable,
  network: string,
  range: Parameters<ChainUnit["listIncluded"]>[0],
): Promise<IncludedPayment[]> {
  const isInRange =
    "above" in range
      ? sql`p.block_number > ${range.above}`
      : sql`p.block_number <= ${range.upTo} AND p.wallet_id <> ALL (${[...range.without]}::uuid[])
          AND ${hasWallet(sql`p`)}`;
  const limit = "above" in range ? range.limit : null;
  const rows = await tx.query<IncludedRow>(sql`
    SELECT p.tenant_id AS "tenantId", p.id, p.wallet_id AS "walletId", p.included_hash AS hash, p.block_number AS "blockNumber",
      p.block_hash AS "blockHash", p.nonce, a.purpose, p.succeeded, p.fee, coalesce(o.fee_held, 0) AS "feeHeld",
      p.stop_reason AS "stopReason", p.stopped_by AS "stoppedBy"
    FROM (
      SELECT *, p.transaction_id AS id FROM chain_payments p
      WHERE p.network = ${network} AND p.stage = 'included' AND ${isInRange}
      ORDER BY p.network, p.block_number LIMIT ${limit}::bigint) AS p
    CROSS JOIN LATERAL (
      SELECT a.purpose FROM chain_attempts a
      WHERE a.network = p.network AND a.hash = p.included_hash LIMIT 1) AS a
    LEFT JOIN LATERAL (
      SELECT o.fee_held FROM open_transactions o WHERE o.tenant_id = p.tenant_id AND o.id = p.id LIMIT 1) AS o ON true
    ORDER BY p.wallet_id, p.nonce
  `);
  return rows.map(readIncluded);
}
