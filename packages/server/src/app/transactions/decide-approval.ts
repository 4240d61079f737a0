import { mayApprove } from "@bursar/domain";
import { type DecideApprovalBody, showId } from "@bursar/protocol";
import { type AuditDraft, type ClientOrigin, describeAct } from "../audit/audit-entry.js";
import { isRefused, type Refused } from "../requests/refused.js";
import { approvalDeadline, digestForApproval } from "./present-approval.js";
import type { ReadTransaction } from "./read-transaction.js";
import type { RecordedApproval, Transaction } from "./transaction.js";

export interface ApprovalStore {
  /**
   * Records an approver's decision as a change of the transaction, for the engine to look at. `repeated`: the client had decided the
   * same before; `closed`: the transaction is no longer waiting.
   */
  recordApproval: (
    tenantId: string,
    transactionId: string,
    approval: Omit<RecordedApproval, "version">,
    audit: AuditDraft,
  ) => Promise<"recorded" | "repeated" | "closed">;
}

export interface DecideApprovalDeps {
  store: ApprovalStore;
  read: ReadTransaction;
  /** Wakes the engine, which counts and goes on. */
  onRecorded: () => void;
  now: () => number;
}

export type DecideApproval = (
  origin: ClientOrigin,
  id: string,
  body: DecideApprovalBody,
) => Promise<Transaction | Refused>;

/** Records an approver's decision on a transaction. What follows from it is decided by the engine, like everything else. */
export function createApprovalDecider({ store, read, onRecorded, now }: DecideApprovalDeps): DecideApproval {
  return async (origin, id, { decision, digest, comment }) => {
    const { tenantId, clientId } = origin.principal;
    const transaction = await read(tenantId, id);
    if (isRefused(transaction)) return transaction;
    const decidedAt = new Date(now());
    const refused = findFault(transaction, clientId, digest, decidedAt);
    if (refused !== undefined) return refused;
    const audit = describeAct(origin, `transaction.${decision}`, showId("tx", id), decidedAt);
    const approval = { clientId, decision, comment: comment ?? null, decidedAt };
    const outcome = await store.recordApproval(tenantId, id, approval, audit);
    if (outcome === "closed") return { refused: "NOT_AWAITING_APPROVAL" };
    onRecorded();
    return await read(tenantId, id);
  };
}

function findFault(
  transaction: Transaction,
  clientId: string,
  digest: string,
  decidedAt: Date,
): Refused | undefined {
  const requirement = transaction.judgement?.requirement;
  if (requirement == null || transaction.clientId === null) return { refused: "NOT_AWAITING_APPROVAL" };
  if (clientId === transaction.clientId)
    return { refused: "POLICY_REJECTED", message: "A client cannot approve its own transaction." };
  if (!mayApprove(requirement, transaction.clientId, clientId))
    return { refused: "POLICY_REJECTED", message: "The policy does not list this client as an approver." };
  if (digest !== digestForApproval(transaction)) return { refused: "APPROVAL_STALE" };
  // The engine may not have expired it yet. A decision that comes too late would not count.
  const deadline = approvalDeadline(transaction);
  return deadline !== undefined && decidedAt >= deadline
    ? { refused: "NOT_AWAITING_APPROVAL", message: "The approval period has expired." }
    : undefined;
}
