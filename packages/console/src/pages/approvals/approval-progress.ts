import type { ApprovalTally, Transaction } from "@bursar/client";
import { serviceClock } from "../../api/service-clock";

const soonMs = 15_000;

/** Whether it only waits for the service, since a moment ago. */
export function isJustDecided(transaction: Transaction | undefined): boolean {
  const approval = transaction?.approval;
  if (approval == null || transaction?.state !== "awaiting_approval") return false;
  if (approval.state !== "rejected" && approval.approved < approval.required) return false;
  const lastMs = Math.max(...approval.decisions.map(({ decided_at }) => Date.parse(decided_at)));
  return Math.abs(serviceClock.nowMs() - lastMs) < soonMs;
}

/**
 * How many approvals count. What is recorded need not count, and how much of it did is not known of a payment that waits no more, so that is
 * not compared with what is required.
 */
export function progressWords({ state, approval }: Transaction, tally: ApprovalTally | undefined): string {
  if (tally !== undefined) return `${tally.counted} of ${tally.required} counted`;
  const isCounted = state === "awaiting_approval" && approval?.decisions.length === 0;
  return isCounted ? `0 of ${approval.required} counted` : `${approval?.approved ?? 0} recorded`;
}

type Reason = NonNullable<ApprovalTally["decisions"][number]["reason"]>;

const reasons: Record<Reason, string> = {
  too_late: "it came too late",
  not_an_approver: "the policy does not list the approver",
  not_recorded: "the service has not recorded it for this payment",
  client_disabled: "disabled",
  scope_missing: "may not approve any more",
  not_signed: "it is not signed",
  not_a_person: "the policy requires approvals by people",
  changed_since: "changed after the payment was requested",
  initiator_reset: "who requested the payment was reset shortly before",
  shared_key: "has a key of who requested the payment",
  shared_lineage: "not independent of who requested the payment",
  counted_with_another: "not independent of an approval that counts",
};

export function reasonWords(reason: Reason): string {
  return reasons[reason];
}

/** Why decisions do not count, by who has made them. */
export function faultsOf(tally: ApprovalTally | undefined): ReadonlyMap<string, string> {
  return new Map(
    tally?.decisions.flatMap(({ client_id, reason }) =>
      reason === null ? [] : [[client_id, reasonWords(reason)]],
    ),
  );
}
