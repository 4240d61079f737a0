import { type ApprovalRequirement, type ApprovalTally, tallyApprovals } from "@bursar/domain";
import { type JudgementPlan, judgePlannedWaiting } from "../../policy/judge-batch.js";
import type { ClaimedPayment, PendingApproval } from "../settlement.js";

export interface PendingTally {
  tally: ApprovalTally;
  /** What was counted by: what the payment was found to require, and what the policy in force adds to that. */
  requirement: ApprovalRequirement;
  /** The rule of the policy in force that rejects the payment; null if none does. */
  rejectedBy: { version: number; rule: string; reason: string } | null;
  /** Whether it has all approvals that it was found to require, and waits only for those that the policy in force adds. */
  waitsForPolicy: boolean;
}

/** Counts by what the payment was found to require, and then by the policy in force, if another has been put in force since. */
export function tallyPending(
  payment: ClaimedPayment,
  pending: PendingApproval,
  policies: JudgementPlan["policies"],
  occurredAt: Date,
): PendingTally {
  const tallyFor = (requirement: ApprovalRequirement): PendingTally => {
    const { askedAt, initiator, approvals } = pending;
    const { clientId: initiatorId, requestedAtMs } = payment;
    const asked = { ...initiator, initiatorId, requestedAtMs, askedAtMs: askedAt.getTime() };
    const tally = tallyApprovals(requirement, asked, approvals, occurredAt.getTime());
    return { tally, requirement, rejectedBy: null, waitsForPolicy: false };
  };
  const before = tallyFor(pending.requirement);
  if (before.tally.state === "rejected" || before.tally.state === "expired") return before;
  const { policyVersion, verdict } = judgePlannedWaiting(policies, payment, pending);
  if (verdict.kind === "require_approval") {
    const waitsForPolicy = before.tally.state === "approved";
    return { ...tallyFor(verdict.requirement), waitsForPolicy };
  }
  const { rule, reason } = verdict;
  return { ...before, rejectedBy: { version: policyVersion, rule, reason } };
}
