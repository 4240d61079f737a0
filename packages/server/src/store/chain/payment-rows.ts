import type { IntegrityKeys } from "../../app/access/integrity-keys.js";
import type {
  AttemptTerms,
  FoundAttempt,
  IncludedPayment,
  PaymentFacts,
  ReadyPayment,
  SentPayment,
  UnsignedPayment,
} from "../../app/chain/chain-store.js";
import type { TakenPayment } from "../../app/chain/nonce-use.js";
import type { UnsignedHolds } from "../../app/chain/stop-payment.js";
import { shownPaymentId } from "../../app/transactions/approvals/present-approval.js";
import { isCancelRecorded, readStops, type StopColumns } from "../access/stops/stop-records.js";
import { joinByKey } from "../core/rows/locate-rows.js";
import { type Statement, sql } from "../core/sql.js";
import { areTermsAuthentic } from "../transactions/transaction-integrity.js";
import {
  checkPayment,
  describeChange,
  describeForgedStop,
  type IntegrityRow,
  integrityColumns,
} from "./payment-integrity.js";

/*
 * What is read of payments. In these statements `p` is the row of a payment with `tenant_id`, `id` and `wallet_id`, `t` its transaction, `o`
 * its open transaction, `w` the sender and `d` the wallet that it pays.
 */

/** Served by the primary keys. */
export const joinFacts: Statement = sql`
  ${joinByKey(sql`transactions`, sql`t`, sql`p`)}
  JOIN LATERAL (
    SELECT w.tenant_id, w.wallet_id, w.address, w.shown, w.key_id, w.mac, w.halted_reason, w.next_nonce, w.reclaimed_from
    FROM chain_wallets w
    WHERE w.tenant_id = p.tenant_id AND w.wallet_id = p.wallet_id LIMIT 1) AS w ON true
  LEFT JOIN LATERAL (
    SELECT d.address, d.shown, d.key_id, d.mac FROM chain_wallets d
    WHERE d.tenant_id = t.tenant_id AND d.wallet_id = t.destination_account_id LIMIT 1) AS d ON t.destination_address IS NULL`;

/** Served by the primary key. */
export const joinOpen: Statement = sql`
  JOIN LATERAL (
    SELECT o.cancel_requested, o.state FROM open_transactions o
    WHERE o.tenant_id = p.tenant_id AND o.id = p.id LIMIT 1) AS o ON true`;

/** Whether its cancellation was requested, as the row says that was joined or as was recorded. Also served by stop_records_cancelling. */
export const cancelRequested: Statement = sql`(
  coalesce(o.cancel_requested, false) OR ${isCancelRecorded(sql`p.tenant_id`, sql`p.id`)})`;

export const factColumns: Statement = sql`
  t.tenant_id AS "tenantId", t.id, p.wallet_id AS "walletId", t.kind, t.asset, t.amount, w.address,
  coalesce(t.destination_address, d.address) AS destination, t.destination_account_id AS "destinationAccountId"`;

/** Those of a payment that is about to be signed: the two lists share columns. */
export const checkedColumns: Statement = sql`
  ${integrityColumns}, coalesce(t.destination_address, d.address) AS destination`;

interface FactRow extends Omit<PaymentFacts, "amount" | "destination"> {
  amount: string;
  destination: string | null;
}

function readFacts(row: FactRow): PaymentFacts {
  const { tenantId, id, walletId, kind, asset, address, destination, destinationAccountId } = row;
  return {
    ...{ tenantId, id, walletId, kind, asset, amount: BigInt(row.amount), address },
    ...{ destination: (destination ?? "").toLowerCase(), destinationAccountId },
  };
}

interface TermsRow {
  purpose: AttemptTerms["purpose"];
  gasLimit: string;
  dataFee: string;
  maxFee: string;
  maxTip: string;
}

function readTerms({ purpose, gasLimit, dataFee, maxFee, maxTip }: TermsRow): AttemptTerms {
  return {
    purpose,
    gasLimit: BigInt(gasLimit),
    dataFee: BigInt(dataFee),
    maxFeePerGas: BigInt(maxFee),
    maxPriorityFeePerGas: BigInt(maxTip),
  };
}

export type ReadyRow = FactRow &
  IntegrityRow &
  Pick<ReadyPayment, "cancelRequested" | "isFrozen" | "isDelisted"> & { boundNonce: string | null };

export function readReady(row: ReadyRow, keys: IntegrityKeys): ReadyPayment {
  const { isFrozen, isDelisted, expiresAt } = row;
  const { fault, isToCancel } = checkPayment(keys, row);
  const cancelRequested = row.cancelRequested || isToCancel;
  const boundNonce = row.boundNonce === null ? null : Number(row.boundNonce);
  return { ...readFacts(row), cancelRequested, isFrozen, isDelisted, expiresAt, fault, boundNonce };
}

export type UnsignedRow = FactRow &
  IntegrityRow &
  TermsRow &
  UnsignedHolds & { nonce: string; number: number; termsKeyId: string | null; termsMac: Uint8Array | null };

export function readUnsigned(row: UnsignedRow, keys: IntegrityKeys): UnsignedPayment {
  const { nonce, number, cancelRequested, isFrozen, isSuspended, isDisabled, isDelisted, isExpired } = row;
  const terms = readTerms(row);
  const checked = checkPayment(keys, row);
  const fault = checked.fault ?? findTermsFault(keys, row, terms, checked.isToCancel);
  const holds = { cancelRequested, isFrozen, isSuspended, isDisabled, isDelisted, isExpired };
  return { ...readFacts(row), ...terms, ...holds, nonce: Number(nonce), number, fault };
}

/** Bytes are signed by these terms, so a writer to the database could pay more for a block than the payment is worth. */
function findTermsFault(
  keys: IntegrityKeys,
  row: UnsignedRow,
  terms: AttemptTerms,
  isToCancel: boolean,
): string | null {
  const { tenantId, id, number, termsKeyId: keyId, termsMac: mac } = row;
  // The attempts before it have no MAC, and decide what a replacement is.
  if (isToCancel && terms.purpose !== "cancellation")
    return describeChange("An attempt of a payment that is to be cancelled", id);
  if (areTermsAuthentic(keys, { tenantId, id, number, ...terms }, { keyId, mac })) return null;
  return `The fees of ${shownPaymentId(id)} were changed in the database by something other than Bursar, so it is not signed. Restore its row in chain_payments from a backup, or set wanted to attempt if it was sent before, then resume the wallet.`;
}

export interface SentRow
  extends FactRow,
    TermsRow,
    StopColumns,
    Omit<SentPayment, keyof PaymentFacts | "fault" | "nonce" | "terms" | "termsNumber"> {
  clientId: string | null;
  nonce: string;
  termsNumber: string;
}

export function readSent(row: SentRow, keys: IntegrityKeys): SentPayment {
  const { number, hash, unsigned, cancelRequested, isFrozen, isFreezing, isSuspended, isDisabled } = row;
  return {
    ...readFacts(row),
    ...{ number, hash, unsigned, cancelRequested, isFrozen, isFreezing, isSuspended, isDisabled },
    ...{ speedUpRequested: row.speedUpRequested, waitsForLower: row.waitsForLower },
    nonce: Number(row.nonce),
    fault: readStops(keys, row, row).isForged ? describeForgedStop(row.id, "sent again") : null,
    terms: readTerms(row),
    termsNumber: Number(row.termsNumber),
  };
}

export interface FoundRow extends FactRow, Pick<FoundAttempt, "hash" | "purpose" | "stage"> {
  nonce: string;
}

export function readFound(row: FoundRow): FoundAttempt {
  const { hash, purpose, stage, nonce } = row;
  return { ...readFacts(row), hash, purpose, stage, nonce: Number(nonce) };
}

export interface TakenRow extends FactRow, Pick<TakenPayment, "attempt" | "hashes" | "isBroadcast"> {
  nonce: string;
}

export function readTaken(row: TakenRow): TakenPayment {
  const { attempt, hashes, isBroadcast } = row;
  return { ...readFacts(row), nonce: Number(row.nonce), attempt, hashes, isBroadcast };
}

export interface IncludedRow extends Omit<IncludedPayment, "nonce" | "block" | "fee" | "feeHeld"> {
  nonce: string;
  blockNumber: string;
  blockHash: string;
  fee: string;
  feeHeld: string;
}

export function readIncluded({ blockNumber, blockHash, ...row }: IncludedRow): IncludedPayment {
  return {
    ...{ ...row, nonce: Number(row.nonce), block: { number: Number(blockNumber), hash: blockHash } },
    ...{ fee: BigInt(row.fee), feeHeld: BigInt(row.feeHeld) },
  };
}
