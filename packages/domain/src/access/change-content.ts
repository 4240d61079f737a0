import { canonicalJson } from "../json/canonical-json.js";

/** A change to approve. Identifiers are in their public form, so that an approver can compute the same digest. */
export interface ApprovedChange {
  tenantId: string;
  changeRequestId: string;
  kind: string;
  target: string;
  change: unknown;
  requestedBy: string;
  /** RFC 3339, as the change request shows it. */
  expiresAt: string;
}

/**
 * The canonical JSON (RFC 8785) of a change. A decision is bound to its SHA-256. The JSON names its own type, so that no other document has
 * the same digest.
 */
export function changeContent(change: ApprovedChange): string {
  return canonicalJson({
    type: "bursar.change.v1",
    tenant_id: change.tenantId,
    change_request_id: change.changeRequestId,
    kind: change.kind,
    target: change.target,
    change: change.change,
    requested_by: change.requestedBy,
    expires_at: change.expiresAt,
  });
}
