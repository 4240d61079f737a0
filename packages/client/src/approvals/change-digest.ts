import { canonicalJson } from "../encoding/canonical-json.js";
import { sha256Hex } from "../encoding/hashes.js";
import type { ChangeRequest } from "../generated/schemas.js";

/**
 * The digest, in hex, of what an approval of a change stands for, as the guide to authority defines it. It is made from what is shown to the
 * approver, not from what the service sends as the digest: approve only if the service shows the same.
 */
export async function changeDigest(
  { id, kind, target, change, requested_by, expires_at }: ChangeRequest,
  tenantId: string,
): Promise<string> {
  return await sha256Hex(
    canonicalJson({
      type: "bursar.change.v1",
      tenant_id: tenantId,
      change_request_id: id,
      kind,
      target,
      change,
      requested_by,
      expires_at,
    }),
  );
}
