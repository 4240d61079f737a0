import { type AssetAmount, type AssetRegistry, timeOfUuidV7 } from "@bursar/domain";
import type {
  ClaimedPayment,
  ClaimedTransaction,
  PendingApproval,
  SettlementStore,
  SettlementUnit,
  TransactionKey,
} from "../../app/transactions/settlement.js";
import type { OnClientsRead } from "../access/lineage/lineage.js";
import type { RowMac } from "../access/row-integrity.js";
import { hasEnded, isCancelledByStop, type StopColumns, stopColumns } from "../access/stops/stop-records.js";
import { listBehindChain } from "../chain/wallets/confirmed-wallets.js";
import { type Database, type KeyedQueryable, requireKeys, type Tx } from "../core/database.js";
import { type FailureTable, recordFailure } from "../core/rows/failures.js";
import { joinByKey } from "../core/rows/locate-rows.js";
import { type Statement, sql } from "../core/sql.js";
import type { EventLog } from "../events/events.js";
import { lockAccounts, withLedger } from "../ledger/ledger.js";
import { createActivePolicyReads } from "../policy/policies.js";
import { lockUsage } from "../policy/usage.js";
import { isWalletFrozen, joinWallet } from "../wallets/lock-wallets.js";
import {
  claimAccepted,
  claimAgain,
  claimFairly,
  claimOne,
  claimOnRail,
  findWork,
  lookAtOne,
  waitingForApproval,
  waitingForRetry,
} from "./claim-open.js";
import { insertDeposits } from "./deposits.js";
import { confirmHolds, markRequestedWhileStopped, obeyStops } from "./payment-stops.js";
import { readPendingApprovals } from "./pending-approvals.js";
import { requestCancel } from "./request-cancels.js";
import { isDepositAuthentic, isTransactionAuthentic, sealedColumns } from "./transaction-integrity.js";
import { type ObserveUnit, writeSettlements } from "./write-settlements.js";

/** The SQL behind the engine, cancellations and the recorder of rails. What a batch costs does not grow by rounds. */
export function createSettlementStore(
  database: Database,
  log: EventLog,
  assets: AssetRegistry,
  observeUnit?: ObserveUnit,
): SettlementStore {
  return {
    unitOfWork: (work, lockTimeoutMs) =>
      withLedger(
        database,
        (tx) => work(createSettlementUnit(tx, log, assets, observeUnit?.())),
        lockTimeoutMs,
      ),
    recordFailure: (key, error, now) => recordFailure(database, transactionFailures, key, error, now),
    findWork: (search) => findWork(database, search),
  };
}

/** Of open transactions. Those that have failed are served by open_transactions_failed. */
export const transactionFailures: FailureTable = {
  kind: "transaction",
  table: sql`open_transactions`,
  attempts: sql`attempts`,
  retryAt: sql`retry_at`,
};

/** The same within the SQL transaction of another unit of work. */
export function createSettlementUnit(
  tx: Tx,
  log: EventLog,
  assets: AssetRegistry,
  onWriting: ReturnType<ObserveUnit> | undefined,
): SettlementUnit {
  const claim = async (claimed: Statement, ifLocked = sql`SKIP LOCKED`): Promise<ClaimedPayment[]> => {
    const rows = await readRows(tx, claimed);
    const free = rows.some(({ isHeld }) => isHeld) ? await confirmHolds(tx, rows, ifLocked) : rows;
    return await readPayments(tx, assets, free);
  };
  return {
    claimAccepted: (tenants, perTenantMax) => claim(claimAccepted(tenants, perTenantMax)),
    claimDue: (limit, now, tenants) => claim(claimFairly(waitingForApproval, limit, now, tenants)),
    claimRetries: (limit, now, tenants) => claim(claimFairly(waitingForRetry, limit, now, tenants)),
    claimAgain: (keys) => claim(claimAgain(keys)),
    claimPayment: async (key) => (await claim(claimOne(key), sql``))[0],
    claimOnRail: (network, keys) => readOnRail(tx, network, keys),
    insertDeposits: (deposits) => insertDeposits(tx, deposits),
    requestCancel: async (key, actorId) => requestCancel(tx, key, actorId),
    listBehindChain: (wallets) => listBehindChain(tx, wallets),
    ...createActivePolicyReads(tx),
    lockUsage: (windows, now) => lockUsage(tx, windows, now),
    lockAccounts: (accounts) => lockAccounts(tx, accounts),
    write: async (settlements, balances) => {
      await onWriting?.(tx, settlements);
      await writeSettlements(tx, log, settlements, balances);
    },
  };
}

/** A payment as the engine would find it, without a lock: undefined if it is not open. */
export async function readOpenPayment(
  source: KeyedQueryable,
  assets: AssetRegistry,
  key: TransactionKey,
  onClientsRead?: OnClientsRead,
): Promise<ClaimedPayment | undefined> {
  const rows = await readRows(source, lookAtOne(key));
  const [payment] = await readPayments(source, assets, rows, onClientsRead);
  return payment;
}

/** Marks those that were changed by something else, or were stopped. */
async function readRows(source: KeyedQueryable, claimed: Statement): Promise<PaymentRow[]> {
  const rows = await source.query<PaymentRow>(selectPayments(claimed));
  if (rows.length === 0) return rows;
  const keys = requireKeys(source);
  for (const row of rows) {
    row.isTampered = row.hasEnded === true || isJudgedAgain(row) || !isTransactionAuthentic(keys, row);
    obeyStops(keys, row);
  }
  await markRequestedWhileStopped(source, rows);
  return rows;
}

async function readPayments(
  source: KeyedQueryable,
  assets: AssetRegistry,
  rows: readonly PaymentRow[],
  onClientsRead?: OnClientsRead,
): Promise<ClaimedPayment[]> {
  const sound = rows.filter(({ isTampered }) => isTampered !== true);
  const approvals = await readPendingApprovals(source, assets, sound, onClientsRead);
  return rows.flatMap((row) => {
    const approval = approvals.get(row.id) ?? null;
    return approval === "later" ? [] : [readPayment(row, approval)];
  });
}

interface FeeColumns {
  feeAsset: string | null;
  feeHeld: string;
}

export interface PaymentRow
  extends Omit<
      ClaimedPayment,
      "amount" | "createdAt" | "countedAt" | "feeHold" | "approval" | "requestedAtMs" | "market"
    >,
    FeeColumns,
    StopColumns,
    RowMac {
  amount: string;
  destinationAddress: string | null;
  hasEnded: boolean | null;
  isCancelledByStop: boolean;
}

/**
 * Whether something has happened to a payment that is said to be new: set back to `accepted`, it would be judged by the policy and the sums of
 * now, and lose the approvals that it was found to require.
 */
function isJudgedAgain({ state, version, hasEnded }: PaymentRow): boolean {
  return state === "accepted" && (version !== 1 || hasEnded !== null);
}

function selectPayments(claimed: Statement): Statement {
  return sql`
    WITH RECURSIVE ${claimed}
    SELECT ${sealedColumns}, c.state, c.version,
      ${isWalletFrozen} AS "sourceIsFrozen", w.purpose AS "sourcePurpose", w.network,
      EXISTS (SELECT FROM clients d WHERE d.id = t.client_id AND d.state = 'disabled')
        OR EXISTS (SELECT FROM tenants s WHERE s.id = t.tenant_id AND s.suspended_at IS NOT NULL) AS "isHeld",
      ${stopColumns(sql`t`, sql`t.source_account_id`)}, ${hasEnded(sql`t`)} AS "hasEnded",
      ${isCancelledByStop(sql`t`)} AS "isCancelledByStop",
      c.cancel_requested AS "cancelRequested", c.cancel_requested_by AS "cancelRequestedBy",
      c.needs_judgement AS "needsJudgement", c.fee_asset AS "feeAsset", c.fee_held AS "feeHeld",
      CASE WHEN t.destination_address IS NULL THEN 'own_wallet'
        WHEN EXISTS (
          SELECT FROM destinations d
          WHERE d.tenant_id = t.tenant_id AND d.network = w.network AND d.address = t.destination_address
            AND d.removed_at IS NULL AND d.effective_at <= t.created_at) THEN 'listed_address'
        ELSE 'address' END AS destination
    FROM claimed c
    ${joinByKey(sql`transactions`, sql`t`, sql`c`)}
    ${joinWallet(sql`t`, sql`t.source_account_id`)}
    ORDER BY t.id
  `;
}

/** Field by field, because every transaction comes by here: see `asAccepted`. */
function readPayment(row: PaymentRow, approval: PendingApproval | "tampered" | null): ClaimedPayment {
  // An id carries the same millisecond as `created_at`, and is read in a tenth of the time.
  const requestedAtMs = timeOfUuidV7(row.id);
  const payment: Omit<ClaimedPayment, "state" | "feeHold"> & {
    state: ClaimedPayment["state"];
    feeHold: AssetAmount | null;
  } = {
    market: null,
    tenantId: row.tenantId,
    id: row.id,
    kind: row.kind,
    state: row.state,
    version: row.version,
    clientId: row.clientId,
    network: row.network,
    asset: row.asset,
    amount: BigInt(row.amount),
    sourceAccountId: row.sourceAccountId,
    sourceWalletId: row.sourceAccountId,
    destinationAccountId: row.destinationAccountId,
    feeHold: readFeeHold(row),
    expiresAt: row.expiresAt,
    createdAt: new Date(requestedAtMs),
    requestedAtMs,
    countedAt: approval === "tampered" ? null : (approval?.askedAt ?? null),
    sourceIsFrozen: row.sourceIsFrozen,
    isHeld: row.isHeld,
    cancelRequested: row.cancelRequested === true,
    cancelRequestedBy: row.cancelRequestedBy ?? null,
    sourcePurpose: row.sourcePurpose,
    destination: row.destination,
    needsJudgement: row.needsJudgement,
    approval: approval === "tampered" ? null : approval,
    isTampered: row.isTampered === true || approval === "tampered",
    hasForgedStop: row.hasForgedStop === true,
    isRequestedWhileStopped: row.isRequestedWhileStopped === true,
  };
  return payment as ClaimedPayment;
}

function readFeeHold({ feeAsset, feeHeld }: FeeColumns): AssetAmount | null {
  return feeAsset === null ? null : { asset: feeAsset, amount: BigInt(feeHeld) };
}

interface RailRow
  extends Omit<ClaimedTransaction, "amount" | "createdAt" | "feeHold" | "network">,
    FeeColumns,
    RowMac {
  amount: string;
}

/**
 * Transactions that a rail is working on, in the order of their keys. The driver obeys a freeze before it signs, so no wallet is locked here. They
 * count towards limits since their first change. Deposits that something else has written are marked. Served by primary keys and events_by_subject.
 */
async function readOnRail(
  tx: KeyedQueryable,
  network: string,
  keys: readonly TransactionKey[],
): Promise<ClaimedTransaction[]> {
  const rows = await tx.query<RailRow>(sql`
    WITH ${claimOnRail(keys)}
    SELECT t.tenant_id AS "tenantId", t.id, t.kind, c.state, c.version, t.client_id AS "clientId", t.asset, t.amount,
      t.source_account_id AS "sourceAccountId", t.destination_account_id AS "destinationAccountId",
      c.fee_asset AS "feeAsset", c.fee_held AS "feeHeld", c.cancel_requested_by AS "cancelRequestedBy", t.key_id AS "keyId", t.mac,
      CASE WHEN t.kind <> 'deposit' THEN (
        SELECT e.occurred_at FROM events e WHERE e.tenant_id = t.tenant_id AND e.subject_id = t.id AND e.version = 2
      ) END AS "countedAt"
    FROM claimed c
    ${joinByKey(sql`transactions`, sql`t`, sql`c`)}
  `);
  return rows.map(({ feeAsset, feeHeld, amount, keyId, mac, ...row }) => ({
    ...row,
    isTampered:
      row.kind === "deposit" && !isDepositAuthentic(requireKeys(tx), { ...row, amount, keyId, mac }),
    network,
    amount: BigInt(amount),
    createdAt: new Date(timeOfUuidV7(row.id)),
    feeHold: readFeeHold({ feeAsset, feeHeld }),
  })) as ClaimedTransaction[];
}
