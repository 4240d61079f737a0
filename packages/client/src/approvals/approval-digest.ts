import { canonicalJson } from "../encoding/canonical-json.js";
import { sha256Hex } from "../encoding/hashes.js";
import type { ApprovalTerms } from "./approval-terms.js";

/** The digest of what was read, in hex. Approve only if the service shows the same. */
export async function approvalDigest(terms: ApprovalTerms): Promise<string> {
  return await sha256Hex(approvalContent(terms));
}

/**
 * What an approval of a transaction stands for, as the policy guide defines it: canonical JSON (RFC 8785) of everything that decides where
 * the money goes, and of who asked for it. It is made from the values that are shown to the approver, not from what the service sends as
 * the digest.
 */
function approvalContent(terms: ApprovalTerms): string {
  const { tenantId, id, kind, asset, network, units, decimals, sourceWalletId, destination } = terms;
  return canonicalJson({
    type: "bursar.approval.v3",
    tenant_id: tenantId,
    transaction_id: id,
    kind,
    asset,
    network,
    amount: units.toString(),
    decimals,
    source: { wallet_id: sourceWalletId },
    destination,
    expires_at: terms.expiresAt,
    created_by: terms.createdBy,
  });
}
