import { type ApprovalTally, showId } from "@bursar/protocol";
import type { ClientOrigin } from "../../audit/audit-entry.js";
import type { ActivePolicies } from "../../policy/policy.js";
import { isRefused, type Refused } from "../../requests/refused.js";
import type { ReadTransaction } from "../read-transaction.js";
import type { ClaimedPayment, PendingApproval, TransactionKey } from "../settlement.js";
import { type PendingTally, tallyPending } from "./tally-pending.js";

export interface ApprovalTallyDeps {
  /** A payment as the engine would find it; undefined if it is not open. */
  readOpenPayment: (
    key: TransactionKey,
    onClientsRead?: (count: number) => void,
  ) => Promise<ClaimedPayment | undefined>;
  read: ReadTransaction;
  policies: Pick<ActivePolicies, "peek" | "load">;
  now: () => number;
}

export type ShowApprovalTally = (
  origin: Pick<ClientOrigin, "principal" | "onClientsRead">,
  id: string,
) => Promise<ApprovalTally | Refused>;

/** Counts the approvals of a payment that waits for them as the engine does, and says why others do not count. Changes nothing. */
export function createApprovalTally(deps: ApprovalTallyDeps): ShowApprovalTally {
  const { readOpenPayment, read, policies, now } = deps;
  return async ({ principal: { tenantId }, onClientsRead }, id) => {
    const payment = await readOpenPayment({ tenantId, id }, onClientsRead);
    if (payment?.isTampered === true) return { refused: "TRANSACTION_TAMPERED" };
    const pending = payment?.approval ?? null;
    if (payment === undefined || pending === null) {
      const transaction = await read(tenantId, id);
      return isRefused(transaction) ? transaction : { refused: "NOT_AWAITING_APPROVAL" };
    }
    const active = policies.peek(tenantId) ?? (await policies.load(tenantId));
    const occurredAt = new Date(Math.max(now(), payment.createdAt.getTime()));
    return present(
      payment,
      pending,
      tallyPending(payment, pending, new Map([[tenantId, active]]), occurredAt),
    );
  };
}

function present(
  { id, isHeld }: ClaimedPayment,
  { approvals, isRejected, isDelisted }: PendingApproval,
  { tally, requirement, rejectedBy }: PendingTally,
): ApprovalTally {
  return {
    object: "approval_tally",
    transaction_id: showId("tx", id),
    state: isRejected || isDelisted || rejectedBy !== null ? "rejected" : tally.state,
    required: requirement.approvals,
    counted: tally.approved,
    held: isHeld,
    decisions: approvals.map(({ clientId, decision, atMs }, index) => {
      const reason = tally.faults[index] ?? null;
      const decided_at = new Date(atMs).toISOString();
      return { client_id: showId("cli", clientId), decision, decided_at, counts: reason === null, reason };
    }),
  };
}
