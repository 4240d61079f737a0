import { type ChangeRequest as ChangeRequestBody, type ChangeRequestSummary, showId } from "@bursar/protocol";
import { type ChangeRequest, digestOfChange } from "./change-request.js";

export function presentChangeRequest(request: ChangeRequest): ChangeRequestBody {
  const { change, comment, requirement, decisions, effectiveAt, updatedAt } = request;
  return {
    ...summarizeChangeRequest(request),
    change,
    comment,
    required: requirement.approvals,
    decisions: decisions.map(({ clientId, decision, comment, decidedAt }) => ({
      client_id: showId("cli", clientId),
      decision,
      comment,
      decided_at: decidedAt.toISOString(),
    })),
    delay_seconds: requirement.delaySeconds,
    effective_at: effectiveAt?.toISOString() ?? null,
    updated_at: updatedAt.toISOString(),
  };
}

/** As an event shows it: without the change itself, which can be large. */
export function summarizeChangeRequest(request: Omit<ChangeRequest, "decisions">): ChangeRequestSummary {
  return {
    id: showId("chr", request.id),
    object: "change_request",
    kind: request.kind,
    target: request.target,
    state: request.state,
    version: request.version,
    digest: digestOfChange(request),
    requested_by: showId("cli", request.requestedBy),
    failure_code: request.failureCode,
    created_at: request.createdAt.toISOString(),
    expires_at: request.expiresAt.toISOString(),
  };
}
