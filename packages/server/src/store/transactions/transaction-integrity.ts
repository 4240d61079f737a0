import {
  type ApprovalRequirement,
  accountOfParty,
  canonicalJson,
  type TransactionKind,
} from "@bursar/domain";
import type { IntegrityKeys } from "../../app/access/integrity-keys.js";
import type { TransactionKey } from "../../app/transactions/settlement.js";
import type { AcceptedTransaction } from "../../app/transactions/transaction.js";
import { isRowAuthentic, macOfRow, type RowMac } from "../access/row-integrity.js";
import { sql } from "../core/sql.js";

/*
 * A MAC covers what decides where the money of a transaction goes, from its acceptance on. A writer to the database can change the row, but
 * what was changed is not paid, approved or cancelled. A row without a MAC, also one from before there were any, is refused.
 */

/** What the MAC covers. The network is that of the source wallet. */
export interface SealedTransaction extends TransactionKey {
  kind: TransactionKind;
  clientId: string | null;
  network: string;
  asset: string;
  amount: string;
  sourceAccountId: string;
  destinationAccountId: string;
  destinationAddress: string | null;
  expiresAt: Date | null;
  needsJudgement: boolean;
}

/** Of the row `t`; the network and `needsJudgement` are in other tables. */
export const sealedColumns = sql`
  t.tenant_id AS "tenantId", t.id, t.kind, t.client_id AS "clientId", t.asset, t.amount,
  t.source_account_id AS "sourceAccountId", t.destination_account_id AS "destinationAccountId",
  t.destination_address AS "destinationAddress", t.expires_at AS "expiresAt", t.key_id AS "keyId", t.mac`;

export function macOfTransaction(
  keys: IntegrityKeys,
  transaction: SealedTransaction,
): { keyId: string; mac: Buffer } {
  return macOfRow(keys, "transaction", fieldsOf(transaction, transaction.needsJudgement));
}

/** That of a transaction that is about to be stored, as hexadecimal digits. */
export function macOfAccepted(keys: IntegrityKeys, accepted: AcceptedTransaction): string {
  return macOfTransaction(keys, sealedOf(accepted, accepted.needsJudgement)).mac.toString("hex");
}

type Requested = Pick<
  AcceptedTransaction,
  "tenantId" | "id" | "clientId" | "asset" | "amount" | "parties" | "expiresAt"
>;

function sealedOf(requested: Requested, needsJudgement: boolean): SealedTransaction {
  const { asset, parties, amount } = requested;
  const { kind, source, destination } = parties;
  return {
    tenantId: requested.tenantId,
    id: requested.id,
    kind,
    clientId: requested.clientId,
    network: kind === "deposit" ? "" : asset.network,
    asset: asset.code,
    amount: amount.toString(),
    sourceAccountId: accountOfParty(source, asset.network),
    destinationAccountId: accountOfParty(destination, asset.network),
    destinationAddress: "address" in destination ? destination.address : null,
    expiresAt: requested.expiresAt,
    needsJudgement,
  };
}

/** What the MAC of a deposit covers. Its source is outside, so it has no network. */
type SealedDeposit = Pick<
  SealedTransaction,
  "tenantId" | "id" | "clientId" | "asset" | "amount" | "sourceAccountId" | "destinationAccountId"
>;

const asTransaction = (deposit: SealedDeposit): SealedTransaction => ({
  ...deposit,
  ...{ kind: "deposit", network: "", destinationAddress: null, expiresAt: null, needsJudgement: false },
});

/** Of money that has come in: a writer to the database cannot record a deposit that nobody has made. */
export function macOfDeposit(keys: IntegrityKeys, deposit: SealedDeposit): { keyId: string; mac: Buffer } {
  return macOfTransaction(keys, asTransaction(deposit));
}

export function isDepositAuthentic(keys: IntegrityKeys, deposit: SealedDeposit & RowMac): boolean {
  return isTransactionAuthentic(keys, { ...asTransaction(deposit), keyId: deposit.keyId, mac: deposit.mac });
}

/** One that was set aside while its client was disabled is judged although it was accepted without it; never the other way round. */
export function isTransactionAuthentic(keys: IntegrityKeys, row: SealedTransaction & RowMac): boolean {
  const isAuthentic = (needsJudgement: boolean) =>
    isRowAuthentic(keys, "transaction", fieldsOf(row, needsJudgement), row);
  return isAuthentic(row.needsJudgement) || (row.needsJudgement && isAuthentic(false));
}

/**
 * Whether what was requested is what the row says, of a transaction that may have ended long ago: with a master key that was replaced, and
 * whether or not it was left to the engine to judge it. Nothing may be paid because of this.
 */
export function isRequestAuthentic(keys: IntegrityKeys, requested: Requested, mac: RowMac): boolean {
  const sealed = sealedOf(requested, false);
  return [false, true].some((needsJudgement) =>
    isRowAuthentic(keys, "ended transaction", fieldsOf(sealed, needsJudgement), mac),
  );
}

function fieldsOf(transaction: SealedTransaction, needsJudgement: boolean): (string | null)[] {
  const { expiresAt } = transaction;
  return [
    "transaction",
    transaction.tenantId,
    transaction.id,
    transaction.kind,
    transaction.clientId,
    transaction.network,
    transaction.asset,
    transaction.amount,
    transaction.sourceAccountId,
    transaction.destinationAccountId,
    transaction.destinationAddress,
    expiresAt === null ? null : `${expiresAt.getTime()}`,
    needsJudgement ? "judge" : "allowed",
  ];
}

/** The approvals that a transaction was found to require. */
export interface SealedRequirement extends TransactionKey {
  requirement: ApprovalRequirement;
  judgedAt: Date;
  /** What it was judged by; absent from MACs that were written before these were covered. */
  judgedBy?: JudgedBy;
}

interface JudgedBy {
  policyVersion: number;
  rule: string;
}

export function macOfRequirement(
  keys: IntegrityKeys,
  judgement: SealedRequirement,
): { keyId: string; mac: Buffer } {
  return macOfRow(keys, "transaction", requirementFields(judgement));
}

/**
 * The requirement as the service has sealed it; undefined if it has not. A payment that the policy in force has judged is not judged again,
 * so a writer could otherwise bring back an approver whom a later policy has removed. Of an old MAC, what it was judged by is not known.
 */
export function findSealedRequirement(
  keys: IntegrityKeys,
  judgement: SealedRequirement & { judgedBy: JudgedBy },
  mac: RowMac,
): SealedRequirement | undefined {
  const { judgedBy: _, ...old } = judgement;
  return [judgement, old].find((one) => isRowAuthentic(keys, "transaction", requirementFields(one), mac));
}

/** No policy has this version: what was judged by it is judged again. */
export const unknownJudgedBy: JudgedBy = { policyVersion: 0, rule: "" };

function requirementFields({ tenantId, id, requirement, judgedAt, judgedBy }: SealedRequirement): string[] {
  const plain: unknown = JSON.parse(JSON.stringify(requirement));
  const by = judgedBy === undefined ? [] : [`${judgedBy.policyVersion}`, judgedBy.rule];
  return ["requirement", tenantId, id, `${judgedAt.getTime()}`, canonicalJson(plain), ...by];
}

/**
 * What the driver of a chain was given a payment for. Only `pay` says that policy and approvals have been passed. What is to be cancelled has
 * passed neither: it is never signed but as an empty transaction, whatever the rest of the database says about its cancellation.
 */
export type BegunPurpose = "pay" | "cancel";

/** That the engine has given a payment to the driver of its chain. */
export interface BegunPayment extends TransactionKey {
  walletId: string;
}

export function macOfBegun(
  keys: IntegrityKeys,
  payment: BegunPayment,
  purpose: BegunPurpose,
): { keyId: string; mac: Buffer } {
  return macOfRow(keys, "transaction", begunFields(payment, purpose));
}

/** The purpose that the MAC was made for, which no column repeats; undefined if the service has not made it. */
export function purposeOfBegun(
  keys: IntegrityKeys,
  payment: BegunPayment,
  mac: RowMac,
): BegunPurpose | undefined {
  const isFor = (purpose: BegunPurpose) =>
    isRowAuthentic(keys, "transaction", begunFields(payment, purpose), mac);
  if (isFor("pay")) return "pay";
  return isFor("cancel") ? "cancel" : undefined;
}

/** The fields of what is to be paid are those from before there were purposes. */
function begunFields({ tenantId, id, walletId }: BegunPayment, purpose: BegunPurpose): string[] {
  const fields = ["begun", tenantId, id, walletId];
  return purpose === "pay" ? fields : [...fields, purpose];
}

/** What an attempt to pay on a chain may offer for its block, by which bytes are signed. */
export interface SealedTerms extends TransactionKey {
  /** The number of the attempt. */
  number: number;
  purpose: string;
  gasLimit: bigint;
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
}

export function macOfTerms(keys: IntegrityKeys, terms: SealedTerms): { keyId: string; mac: Buffer } {
  return macOfRow(keys, "transaction", termsFields(terms));
}

export function areTermsAuthentic(keys: IntegrityKeys, terms: SealedTerms, mac: RowMac): boolean {
  return isRowAuthentic(keys, "transaction", termsFields(terms), mac);
}

function termsFields({ tenantId, id, number, purpose, ...terms }: SealedTerms): string[] {
  const { gasLimit, maxFeePerGas, maxPriorityFeePerGas } = terms;
  return [
    ...["terms", tenantId, id, `${number}`, purpose],
    ...[`${gasLimit}`, `${maxFeePerGas}`, `${maxPriorityFeePerGas}`],
  ];
}
