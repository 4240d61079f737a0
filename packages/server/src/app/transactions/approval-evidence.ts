import { type ApprovalRecord, type ApprovalRecords, requestSignature, showId } from "@bursar/protocol";
import type { VerifiedSignature } from "../access/verify-request-signature.js";
import { readPasskey } from "../people/passkey.js";
import { isRefused, type Refused } from "../requests/refused.js";
import { contentForApproval, digestForApproval } from "./present-approval.js";
import type { ReadTransaction } from "./read-transaction.js";
import type { RecordedApproval } from "./transaction.js";

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

export interface EvidenceBox {
  /** Encrypts the signature base of a decision on a transaction or a change request. */
  seal: (subjectId: string, base: Uint8Array) => Uint8Array;
  open: (subjectId: string, sealed: Uint8Array) => Uint8Array;
}

export interface EvidenceStore {
  /** Every decision on a transaction, oldest first, with its signature if it has one. */
  listEvidence: (
    tenantId: string,
    transactionId: string,
  ) => Promise<(RecordedApproval & { digest: string | null; evidence: ApprovalEvidence | null })[]>;
}

export function sealEvidence(
  box: Pick<EvidenceBox, "seal">,
  subjectId: string,
  { signature, tokenExpiresAt }: ApprovalProof,
): ApprovalEvidence {
  const { key, params, signature: bytes, base, body } = signature;
  return {
    keyId: key.id,
    algorithm: key.algorithm,
    publicKey: publicKeyOf(key),
    params,
    signature: bytes,
    base: box.seal(subjectId, Buffer.from(base)),
    body,
    baseAvailableAt: tokenExpiresAt,
  };
}

/** A shared secret proves nothing to others. */
function publicKeyOf(key: VerifiedSignature["key"]): Uint8Array | null {
  if (key.algorithm === "hmac-sha256") return null;
  return key.algorithm === "ed25519" ? key.material : Buffer.from(readPasskey(key).publicKey, "base64url");
}

export interface ListApprovalsDeps {
  read: ReadTransaction;
  store: EvidenceStore;
  box: Pick<EvidenceBox, "open">;
  now: () => number;
}

export type ListApprovals = (tenantId: string, id: string) => Promise<ApprovalRecords | Refused>;

/** Lists the decisions on a transaction with what is needed to verify them without trusting the service. */
export function createApprovalLister({ read, store, box, now }: ListApprovalsDeps): ListApprovals {
  return async (tenantId, id) => {
    const transaction = await read(tenantId, id);
    if (isRefused(transaction)) return transaction;
    if (transaction.judgement?.requirement == null)
      return { refused: "NOT_AWAITING_APPROVAL", message: "The transaction required no approval." };
    const decisions = await store.listEvidence(tenantId, id);
    const at = new Date(now());
    return {
      digest: digestForApproval(transaction),
      content: contentForApproval(transaction),
      data: decisions.map((decision) => presentRecord(decision, (base) => box.open(id, base), at)),
    };
  };
}

/** A decision with its signature; the signature base is shown when its access token has expired. */
export function presentRecord(
  {
    clientId,
    decision,
    digest,
    comment,
    decidedAt,
    evidence,
  }: Omit<RecordedApproval, "version" | "isSigned"> & {
    digest: string | null;
    evidence: ApprovalEvidence | null;
  },
  open: (base: Uint8Array) => Uint8Array,
  at: Date,
): ApprovalRecord {
  return {
    object: "approval" as const,
    client_id: showId("cli", clientId),
    decision,
    digest,
    comment,
    decided_at: decidedAt.toISOString(),
    signature: evidence === null ? null : presentEvidence(evidence, open, at),
  };
}

function presentEvidence(
  evidence: ApprovalEvidence,
  open: (base: Uint8Array) => Uint8Array,
  at: Date,
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
    base: evidence.baseAvailableAt <= at ? text(open(evidence.base), "utf8") : null,
    base_available_at: evidence.baseAvailableAt.toISOString(),
  };
}
