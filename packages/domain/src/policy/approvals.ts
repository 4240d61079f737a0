/**
 * The approvals that policy requires for a transaction. They are fixed when the transaction is judged and are stored with it as JSON, so a
 * later change of the policy or of a group does not affect transactions that are already waiting.
 */
export interface ApprovalRequirement {
  approvals: number;
  /** The UUIDs of the clients that may approve; null means any client of the tenant with the scope. */
  clientIds: readonly string[] | null;
  expiresAfterSeconds: number;
  /** Whether an approval must carry a signature that can be verified later; absent in requirements stored before there was a choice. */
  signed?: boolean;
}

/** The decision of one client, and whether the client may still approve. */
export interface Approval {
  clientId: string;
  decision: "approve" | "reject";
  atMs: number;
  /** Whether the client is enabled and has the scope now, not only when it decided. */
  isEnabled: boolean;
}

export interface ApprovalTally {
  state: "pending" | "approved" | "rejected" | "expired";
  approved: number;
  missing: number;
  deadlineMs: number;
}

/** Whether a client may approve a transaction of this initiator. Its scope is checked together with its token. */
export function mayApprove(
  { clientIds }: ApprovalRequirement,
  initiatorId: string,
  clientId: string,
): boolean {
  return clientId !== initiatorId && (clientIds === null || clientIds.includes(clientId));
}

/**
 * Tallies the decisions that were made before the deadline by clients that may approve. One rejection is final even if its client has been
 * disabled since, because stopping is always safe. An approval counts only while its client is enabled, and each client counts once.
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
