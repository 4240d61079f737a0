import type {
  ChainStore,
  ChainUnit,
  FoundAttempt,
  IncludedPayment,
  PaymentState,
} from "../../app/chain/chain-store.js";
import type { TransactionKey } from "../../app/transactions/settlement.js";
import { stopColumns } from "../access/stops/stop-records.js";
import { type Database, type Queryable, requireKeys } from "../core/database.js";
import { listKeys } from "../core/rows/locate-rows.js";
import { sql } from "../core/sql.js";
import {
  holdColumns,
  isExpired,
  isFreezing,
  isStoppedOrWaits,
  unsignedHoldColumns,
} from "./payment-holds.js";
import {
  cancelRequested,
  checkedColumns,
  type FoundRow,
  factColumns,
  type IncludedRow,
  joinFacts,
  joinOpen,
  readFound,
  readIncluded,
  readSent,
  readUnsigned,
  type SentRow,
  type UnsignedRow,
} from "./payment-rows.js";
import { leastId, listReady } from "./ready-payments.js";
import { hasWallet } from "./unowned-rows.js";
import { freeNonce } from "./wallets/free-nonce.js";
import { isDelisted } from "./wallets/removed-addresses.js";

/** Before any limit: what a halted wallet has must not take the places of others. */
const isNotHalted = sql`NOT EXISTS (
  SELECT FROM chain_wallets h WHERE h.tenant_id = p.tenant_id AND h.wallet_id = p.wallet_id AND h.halted_reason IS NOT NULL)`;

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
    listReady: (network, page) => listReady(database, network, page),
    // Served by chain_payments_to_sign, destinations_removed, destinations_listed and primary keys.
    listUnsigned: async (network, limit, afterId = leastId) => {
      const rows = await database.query<UnsignedRow>(sql`
        SELECT ${checkedColumns}, p.nonce, p.wanted AS number, p.purpose, p.gas_limit AS "gasLimit", p.data_fee AS "dataFee",
          p.max_fee AS "maxFee", p.max_tip AS "maxTip", p.terms_key_id AS "termsKeyId", p.terms_mac AS "termsMac",
          ${unsignedHoldColumns}
        FROM (
          SELECT *, p.transaction_id AS id FROM chain_payments p
          WHERE p.network = ${network} AND p.transaction_id > ${afterId}::uuid
            AND p.wanted > p.attempt AND p.stage IN ('assigned', 'signed') AND ${isNotHalted}
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
          CASE WHEN p.wanted > p.attempt THEN p.purpose END AS unsigned, ${cancelRequested} AS "cancelRequested", ${holdColumns},
          t.client_id AS "clientId", ${stopColumns(sql`t`, sql`p.wallet_id`)},
          ${isFreezing} AS "isFreezing", p.speed_up_requested AS "speedUpRequested", ${freeNonce} < p.nonce OR EXISTS (
            SELECT FROM chain_payments f
            WHERE f.network = p.network AND f.wallet_id = p.wallet_id AND f.stage IN ('assigned', 'signed') AND f.stage = 'assigned'
              AND f.nonce < p.nonce) AS "waitsForLower"
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
      const keys = requireKeys(database);
      return rows.map((row) => readSent(row, keys));
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

/** Served by the primary keys, in whose order the rows are locked, by destinations_removed and destinations_listed. */
export async function lockPayments(
  tx: Queryable,
  keys: readonly TransactionKey[],
): Promise<ReadonlyMap<string, PaymentState>> {
  const rows = await tx.query<PaymentState & { id: string }>(sql`
    SELECT p.transaction_id AS id, p.stage, p.attempt, p.wanted, p.purpose,
      -- Of the locked row: the rest of the statement sees only what was committed before it waited for the lock.
      ${cancelRequested} AS "cancelRequested",
      ${holdColumns}, ${isDelisted} AS "isDelisted", ${isExpired} AS "isExpired"
    FROM (SELECT * FROM ${listKeys(keys)} ORDER BY tenant_id, id) AS given
    CROSS JOIN LATERAL (
      SELECT *, p.transaction_id AS id FROM chain_payments p
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
