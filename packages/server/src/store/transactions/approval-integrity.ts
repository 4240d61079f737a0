import type { IntegrityKeys } from "../../app/access/integrity-keys.js";
import type { RecordedApproval } from "../../app/transactions/transaction.js";
import { isRowAuthentic, macOfRow, type RowMac } from "../access/row-integrity.js";
import { sql } from "../core/sql.js";

/** The algorithm of the signature that is stored with the approval `a`, if there is one. By the primary key: PostgreSQL may read the whole table for EXISTS. */
const algorithmOfSignature = sql`(
  SELECT s.algorithm FROM approval_signatures s
  WHERE s.tenant_id = a.tenant_id AND s.transaction_id = a.transaction_id AND s.version = a.version)`;

/** The public key of that signature, in hex. */
export const publicKeyOfSignature = sql`(
  SELECT encode(s.public_key, 'hex') FROM approval_signatures s
  WHERE s.tenant_id = a.tenant_id AND s.transaction_id = a.transaction_id AND s.version = a.version)`;

/** Whether a signature is stored with the approval `a`. */
export const isSigned = sql`(${algorithmOfSignature} IS NOT NULL)`;

/** Whether one is stored that can be verified later. */
export const isSignedByKey = sql`(coalesce(${algorithmOfSignature}, '') IN ('ed25519', 'passkey'))`;

/**
 * A decision on a transaction, as its MAC covers it: with the digest of what was approved, the fact that a signature by a key of the
 * approver was verified, and the public key of that.
 */
export interface SealedApproval extends RecordedApproval {
  tenantId: string;
  transactionId: string;
  /** Null for one from before digests were stored. */
  digest: string | null;
  /** In hex; null if there is no signature that can be verified later. */
  publicKey: string | null;
}

export function macOfApproval(keys: IntegrityKeys, approval: SealedApproval): { keyId: string; mac: Buffer } {
  return macOfRow(keys, "approval", contentOf(approval));
}

/** Whether the service has recorded the decision: a writer to the database can add a row, or a signature, but not its MAC. */
export function isApprovalAuthentic(keys: IntegrityKeys, approval: SealedApproval, mac: RowMac): boolean {
  return findSealed(keys, "approval", approval, mac) !== undefined;
}

/** The decision as its MAC covers it: one from before public keys were covered has none. Undefined if the MAC is wrong. */
export function findSealed(
  keys: IntegrityKeys,
  label: "approval" | "ended approval",
  approval: SealedApproval,
  mac: RowMac,
): SealedApproval | undefined {
  const forms = approval.publicKey === null ? [approval] : [approval, { ...approval, publicKey: null }];
  return forms.find((form) => isRowAuthentic(keys, label, contentOf(form), mac));
}

/**
 * The same, for what is shown. The approvals of a transaction that has been decided may have a MAC of a master key that was replaced since;
 * while it waits, what is shown is what counts.
 */
export function isDecisionAuthentic(
  keys: IntegrityKeys,
  approval: SealedApproval,
  mac: RowMac,
  isWaiting: boolean,
): boolean {
  return findSealed(keys, isWaiting ? "approval" : "ended approval", approval, mac) !== undefined;
}

function contentOf({ publicKey, ...approval }: SealedApproval): object {
  const { tenantId, transactionId, version, clientId, decision, digest, comment, decidedAt, isSigned } =
    approval;
  return {
    ...{ tenantId, transactionId, version, clientId, decision, digest, comment, decidedAt, isSigned },
    ...(publicKey === null ? {} : { publicKey }),
  };
}
