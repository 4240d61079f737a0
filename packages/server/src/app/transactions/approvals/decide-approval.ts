import { type ApprovalRequirement, type IndependenceFault, mayApprove } from "@bursar/domain";
import { type DecideApprovalBody, showId } from "@bursar/protocol";
import { type AuditDraft, type ClientOrigin, describeAct } from "../../audit/audit-entry.js";
import { refuseDependence } from "../../change-requests/refuse-dependence.js";
import { describeReviewedAct } from "../../clients/review-caller.js";
import { isRefused, type Refused } from "../../requests/refused.js";
import type { ReadTransaction } from "../read-transaction.js";
import type { RecordedApproval, Transaction } from "../transaction.js";
import {
  type ApprovalEvidence,
  type ApprovalProof,
  type EvidenceBox,
  sealEvidence,
} from "./approval-evidence.js";
import type { JudgeWaitingTransaction } from "./judge-waiting-transaction.js";
import { approvalDeadline, digestForApproval } from "./present-approval.js";

export interface ApprovalStore {
  /**
   * Records an approver's decision as a change of the transaction, for the engine to look at. `repeated`: the client had decided the
   * same before, and nothing is written; `closed`: the transaction is no longer waiting; `full`: it has `recordedApprovalsMax` approvals;
   * `tampered`: its row was changed in the database, so that it is not known what would be approved.
   */
  recordApproval: (
    tenantId: string,
    transactionId: string,
    approval: Omit<RecordedApproval, "version" | "isSigned"> & {
      digest: string;
      evidence: ApprovalEvidence | null;
    },
    audit: AuditDraft,
  ) => Promise<"recorded" | "repeated" | "closed" | "full" | "tampered">;
  /**
   * Why an approval by this client would not count for what the initiator requested; undefined if it would. `not_a_person` only if people
   * are required.
   */
  findApproverFault: (
    requested: { initiatorId: string; requestedAt: Date; people: boolean },
    approverId: string,
    onClientsRead?: (count: number) => void,
  ) => Promise<IndependenceFault | "not_a_person" | undefined>;
}

export interface DecideApprovalDeps {
  store: ApprovalStore;
  read: ReadTransaction;
  judgeWaiting: JudgeWaitingTransaction;
  box: Pick<EvidenceBox, "seal">;
  /** Wakes the engine, which counts and goes on. */
  onRecorded: () => void;
  now: () => number;
}

export type DecideApproval = (
  origin: ClientOrigin,
  id: string,
  body: DecideApprovalBody,
  /** The signature of the request, if it has one. */
  proof: ApprovalProof | null,
) => Promise<Transaction | Refused>;

/** Records an approver's decision on a transaction. What follows from it is decided by the engine, like everything else. */
export function createApprovalDecider({
  store,
  read,
  judgeWaiting,
  box,
  onRecorded,
  now,
}: DecideApprovalDeps): DecideApproval {
  return async (origin, id, { decision, digest, comment }, proof) => {
    const { onClientsRead } = origin;
    const { tenantId, clientId } = origin.principal;
    const transaction = await read(tenantId, id);
    if (isRefused(transaction)) return transaction;
    const decidedAt = new Date(now());
    const decided = { clientId, digest, proof, decidedAt };
    const refused =
      findFault(transaction, transaction.judgement?.requirement, decided) ??
      // Last, because it reads more than the others. A rejection needs none of it: stopping is always safe.
      (decision === "approve"
        ? await refuseApproval({ store, judgeWaiting }, transaction, { ...decided, onClientsRead })
        : undefined);
    if (refused !== undefined) return refused;
    // A rejection is safe in any case.
    const describe = decision === "approve" ? describeReviewedAct : describeAct;
    const audit = describe(origin, `transaction.${decision}`, showId("tx", id), decidedAt);
    const evidence = proof === null ? null : sealEvidence(box, { tenantId, id }, proof);
    const approval = { clientId, decision, digest, comment: comment ?? null, decidedAt, evidence };
    const outcome = await store.recordApproval(tenantId, id, approval, audit);
    if (outcome === "closed") return { refused: "NOT_AWAITING_APPROVAL" };
    if (outcome === "tampered") return { refused: "TRANSACTION_TAMPERED" };
    if (outcome === "full") return { refused: "APPROVAL_LIMIT_REACHED" };
    if (outcome === "recorded") onRecorded();
    return await read(tenantId, id);
  };
}

const signatureRequired: Refused = {
  refused: "POLICY_REJECTED",
  message:
    "The policy requires approvals to be signed (RFC 9421) with an Ed25519 key of the approver, or confirmed with a passkey.",
};

const personRequired: Refused = {
  refused: "POLICY_REJECTED",
  message: "The policy requires approvals by people. A person approves in the console, with a passkey.",
};

const personOfProgram: Refused = {
  refused: "POLICY_REJECTED",
  message:
    "The policy requires approvals by people, and a program could act as this person: it has invited or recovered them, or somebody before them. The operator makes them independent with `bursar people recover`.",
};

interface Decided {
  clientId: string;
  digest: string;
  proof: ApprovalProof | null;
  decidedAt: Date;
}

function findFault(
  transaction: Transaction,
  requirement: ApprovalRequirement | null | undefined,
  { clientId, digest, decidedAt }: Decided,
): Refused | undefined {
  if (requirement == null || transaction.clientId === null) return { refused: "NOT_AWAITING_APPROVAL" };
  if (clientId === transaction.clientId)
    return { refused: "POLICY_REJECTED", message: "A client cannot approve its own transaction." };
  if (!mayApprove(requirement, transaction.clientId, clientId))
    return { refused: "POLICY_REJECTED", message: "The policy does not list this client as an approver." };
  if (digest !== digestForApproval(transaction)) return { refused: "APPROVAL_STALE" };
  // The engine may not have expired it yet. A decision that comes too late would not count.
  const deadline = approvalDeadline(transaction, requirement);
  return deadline !== undefined && decidedAt >= deadline
    ? { refused: "NOT_AWAITING_APPROVAL", message: "The approval period has expired." }
    : undefined;
}

/** The engine looks again when it counts; here the approver learns why its approval would not count. */
async function refuseApproval(
  { store, judgeWaiting }: Pick<DecideApprovalDeps, "store" | "judgeWaiting">,
  transaction: Transaction,
  decided: Decided & Pick<ClientOrigin, "onClientsRead">,
): Promise<Refused | undefined> {
  const { clientId, onClientsRead } = decided;
  const verdict = await judgeWaiting(transaction);
  // What the policy in force rejects is ended by the engine when it counts this approval.
  if (verdict === undefined || verdict.kind === "reject") return undefined;
  const { requirement } = verdict;
  const fault = findFault(transaction, requirement, decided);
  if (fault !== undefined) return fault;
  // A shared secret proves nothing to others, because the service knows it too.
  const algorithm = decided.proof?.signature.key.algorithm;
  if (requirement.signed === true && algorithm !== "ed25519" && algorithm !== "passkey")
    return signatureRequired;
  // Nobody but a person has a passkey, and a person approves with nothing else.
  if (requirement.people === true && algorithm !== "passkey") return personRequired;
  const { clientId: initiatorId, createdAt } = transaction;
  if (initiatorId === null) return undefined;
  const requested = { initiatorId, requestedAt: createdAt, people: requirement.people === true };
  const approverFault = await store.findApproverFault(requested, clientId, onClientsRead);
  if (approverFault === "not_a_person") return personOfProgram;
  return approverFault && refuseDependence(approverFault, "transaction");
}
