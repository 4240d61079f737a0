import { sha256 } from "../encoding/hashes.js";
import type { ApprovalTerms } from "./approval-terms.js";

/** The digest of what was read, in hex. Approve only if the service shows the same. */
export async function approvalDigest(terms: ApprovalTerms): Promise<string> {
  const bytes = await sha256(approvalContent(terms));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * What an approval of a transaction stands for, as the policy guide defines it: canonical JSON (RFC 8785) of everything that decides where
 * the money goes, and of who asked for it. It is made from the values that are shown to the approver, not from what the service sends as
 * the digest.
 */
function approvalContent(terms: ApprovalTerms): string {
  const { tenantId, id, kind, asset, network, units, sourceWalletId, destination } = terms;
  return canonical({
    type: "bursar.approval.v2",
    tenant_id: tenantId,
    transaction_id: id,
    kind,
    asset,
    network,
    amount: units.toString(),
    source: { wallet_id: sourceWalletId },
    destination,
    expires_at: terms.expiresAt,
    created_by: terms.createdBy,
  });
}

type Member = string | null | { [name: string]: Member };

/** RFC 8785 for objects of strings: members in the order of their UTF-16 code units, no spaces. */
function canonical(value: Member): string {
  if (value === null || typeof value === "string") return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name] as Member)}`);
  return `{${members.join(",")}}`;
}
