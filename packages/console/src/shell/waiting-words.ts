import type { PendingApprovals } from "../api/pending-approvals";

/**
 * What stands beside the page of approvals: for an approver, how many payments they have not decided about, for others how many wait.
 * `said` is the same for a screen reader. Undefined if nothing waits.
 */
export function waitingWords(
  { count, own, isCut }: Pick<PendingApprovals, "count" | "own" | "isCut">,
  isApprover: boolean,
): { shown: string; said: string } | undefined {
  // An approver who has decided about all that were counted may still have to decide about others.
  const counted = isApprover && (own > 0 || !isCut) ? own : count;
  if (isCut) return { shown: `${counted}+`, said: `${counted} or more waiting` };
  return counted === 0 ? undefined : { shown: String(counted), said: `${counted} waiting` };
}
