import { type ApprovalRecord, type ApprovalRecords, requestSignature, showId } from "@bursar/protocol";
import type { VerifiedSignature } from "../../access/verify-request-signature.js";
import { readPasskey } from "../../people/passkey.js";
import { isRefused, type Refused } from "../../requests/refused.js";
import type { ReadTransaction } from "../read-transaction.js";
import type { RecordedApproval } from "../transaction.js";
import { contentForApproval, digestForApproval } from "./present-approval.js";
import { readSignedBase, type SignedBase } from "./read-signed-base.js";

/** The signature of a request that decides, and the time from which its access token cannot be used any more. */
export interface ApprovalProof {
  signature: VerifiedSignature;
  tokenExpiresAt: Date;
}

/** A signature as it is stored with an approval. */
export interface ApprovalEvidence {
  keyId: string;
  algorithm: "ed25519" | "hmac-sha256" | "passkey";
  publicKey: Uint8Array | null;
  params: string;
  signature: Uint8Array;
  /** The signature base, sealed, because it contains an access token. */
  base: Uint8Array;
  body: Uint8Array;
  baseAvailableAt: Date;
}

/** What was decided: a transaction or a change request. */
export interface EvidenceSubject {
  tenantId: string;
  id: string;
}

export interface EvidenceBox {
  /** Encrypts the signature base of a decision. */
  seal: (subject: EvidenceSubject, base: Uint8Array) => Uint8Array;
  /** Undefined if it was encrypted for something else, or with a key that is not listed. */
  open: (subject: EvidenceSubject, sealed: Uint8Array) => Uint8Array | undefined;
  /** Whether a time has passed, by every clock of the service. */
  hasPassed: (time: Date) => boolean;
}

export interface EvidenceStore {
  /** Every decision on a transaction, oldest first, with its signature if it has one, and whether the service has recorded it. */
  listEvidence: (
    tenantId: string,
    transactionId: string,
    isWaiting: boolean,
  ) => Promise<
    (RecordedApproval & { digest: string | null; evidence: ApprovalEvidence | null; isAuthentic: boolean })[]
  >;
}

export function sealEvidence(
  box: Pick<EvidenceBox, "seal">,
  subject: EvidenceSubject,
  { signature, tokenExpiresAt }: ApprovalProof,
): ApprovalEvidence {
  const { key, params, signature: bytes, base, body } = signature;
  return {
    keyId: key.id,
    algorithm: key.algorithm,
    publicKey: publicKeyOf(key),
    params,
    signature: bytes,
    base: box.seal(subject, Buffer.from(base)),
    body,
    baseAvailableAt: tokenExpiresAt,
  };
}

/** A shared secret proves nothing to others. */
export function publicKeyOf(key: VerifiedSignature["key"]): Uint8Array | null {
  if (key.algorithm === "hmac-sha256") return null;
  return key.algorithm === "ed25519" ? key.material : Buffer.from(readPasskey(key).publicKey, "base64url");
}

export interface ListApprovalsDeps {
  read: ReadTransaction;
  store: EvidenceStore;
  box: Pick<EvidenceBox, "open" | "hasPassed">;
}

export type ListApprovals = (tenantId: string, id: string) => Promise<ApprovalRecords | Refused>;

/** Lists the decisions on a transaction with what is needed to verify them without trusting the service. */
export function createApprovalLister({ read, store, box }: ListApprovalsDeps): ListApprovals {
  return async (tenantId, id) => {
    const transaction = await read(tenantId, id);
    if (isRefused(transaction)) return transaction;
    if (transaction.judgement?.requirement == null)
      return { refused: "NOT_AWAITING_APPROVAL", message: "The transaction required no approval." };
    const isWaiting = transaction.steps.at(-1)?.state === "awaiting_approval";
    const decisions = await store.listEvidence(tenantId, id, isWaiting);
    const data = presentRecords(box, { tenantId, id }, decisions);
    if (data === undefined) return { refused: "TRANSACTION_TAMPERED" };
    return { digest: digestForApproval(transaction), content: contentForApproval(transaction), data };
  };
}

type Decision = Omit<RecordedApproval, "version" | "isSigned"> & {
  digest: string | null;
  evidence: ApprovalEvidence | null;
  isAuthentic: boolean;
};

/**
 * Decisions with their signatures, without those that the service has not recorded. Undefined if a signature base was not written by the
 * service for this subject.
 */
export function presentRecords(
  box: Pick<EvidenceBox, "open" | "hasPassed">,
  subject: EvidenceSubject,
  decisions: readonly Decision[],
): ApprovalRecord[] | undefined {
  const records: ApprovalRecord[] = [];
  for (const { clientId, decision, digest, comment, decidedAt, evidence, isAuthentic } of decisions) {
    const sealed = evidence && box.open(subject, evidence.base);
    const base = sealed && readSignedBase(subject.tenantId, sealed);
    if (base === undefined) return undefined;
    if (!isAuthentic) continue;
    records.push({
      object: "approval" as const,
      client_id: showId("cli", clientId),
      decision,
      digest,
      comment,
      decided_at: decidedAt.toISOString(),
      signature: evidence && base && presentEvidence(evidence, base, box.hasPassed),
    });
  }
  return records;
}

/** The signature base is shown when its access token has expired. */
function presentEvidence(
  evidence: ApprovalEvidence,
  { text: base, tokenExpiresAt }: SignedBase,
  hasPassed: EvidenceBox["hasPassed"],
): NonNullable<ApprovalRecord["signature"]> {
  const { label } = requestSignature;
  const text = (bytes: Uint8Array, encoding: BufferEncoding) => Buffer.from(bytes).toString(encoding);
  return {
    key_id: showId("key", evidence.keyId),
    algorithm: evidence.algorithm,
    public_key: evidence.publicKey === null ? null : text(evidence.publicKey, "base64url"),
    ...(evidence.algorithm === "passkey"
      ? { signature_input: evidence.params, signature: text(evidence.signature, "base64url") }
      : {
          signature_input: `${label}=${evidence.params}`,
          signature: `${label}=:${text(evidence.signature, "base64")}:`,
        }),
    body: text(evidence.body, "utf8"),
    base: tokenExpiresAt === null || hasPassed(tokenExpiresAt) ? base : null,
    base_available_at: (tokenExpiresAt ?? evidence.baseAvailableAt).toISOString(),
  };
}
