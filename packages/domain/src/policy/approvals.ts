/**
 * What a transaction waits for when policy asks for people. It is fixed when the transaction is judged and stored with it, so it is
 * plain JSON: a later change of the policy or of a group does not change who may approve what already waits.
 */
export interface ApprovalRequirement {
  approvals: number;
  /** The UUIDs of the clients that may approve; null: any client of the tenant that has the scope. */
  clientIds: readonly string[] | null;
  expiresAfterSeconds: number;
}

/** What one client has said, and whether it would still be heard. */
export interface Approval {
  clientId: string;
  decision: "approve" | "reject";
  atMs: number;
  /** Whether the client is enabled and has the scope now, and not only when it spoke. */
  isEnabled: boolean;
}

export interface ApprovalTally {
  state: "pending" | "approved" | "rejected" | "expired";
  approved: number;
  missing: number;
  deadlineMs: number;
}

/** Whether a client has a say in a transaction that another has asked for. Its scope is checked where its token is. */
export function mayApprove(
  { clientIds }: ApprovalRequirement,
  initiatorId: string,
  clientId: string,
): boolean {
  return clientId !== initiatorId && (clientIds === null || clientIds.includes(clientId));
}

/**
 * Counts what was said before the deadline by those who have a say. One rejection ends it, whatever became of the client since: to
 * stop is always safe. An approval counts only while its client is enabled, and each client once.
 */
export function tallyApprovals(
  requirement: ApprovalRequirement,
  { initiatorId, askedAtMs }: { initiatorId: string; askedAtMs: number },
  approvals: readonly Approval[],
  nowMs: number,
): ApprovalTally {
  const deadlineMs = askedAtMs + requirement.expiresAfterSeconds * 1000;
  const heard = approvals.filter(
    ({ clientId, atMs }) => atMs < deadlineMs && mayApprove(requirement, initiatorId, clientId),
  );
  const approvers = new Set(
    heard
      .filter(({ decision, isEnabled }) => decision === "approve" && isEnabled)
      .map(({ clientId }) => clientId),
  );
  const approved = approvers.size;
  const missing = Math.max(0, requirement.approvals - approved);
  const state = () => {
    if (heard.some(({ decision }) => decision === "reject")) return "rejected";
    if (missing === 0) return "approved";
    return nowMs < deadlineMs ? "pending" : "expired";
  };
  return { state: state(), approved, missing, deadlineMs };
}
