import type { ApprovalTally, Transaction } from "@bursar/client";
import { useQuery } from "@tanstack/react-query";
import { bursar } from "../../api/bursar";

/**
 * Which approvals count now: that changes with the approvers, without a new version of the payment. Undefined while it is not known, and if
 * there is nothing to count.
 */
export function useApprovalTally(transaction: Transaction, refreshMs: number): ApprovalTally | undefined {
  const { id, version, state, approval } = transaction;
  const { data } = useQuery({
    queryKey: ["approval-tally", id, version],
    enabled: state === "awaiting_approval" && approval !== null && approval.decisions.length > 0,
    queryFn: ({ signal }) => bursar.transactions.approvalTally(id, { signal }),
    refetchInterval: ({ state: { error } }) => (error === null ? refreshMs : false),
  });
  return data;
}
