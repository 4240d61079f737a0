import { hash } from "node:crypto";
import { type ApprovalRequirement, approvalContent } from "@bursar/domain";
import { type ApprovalStatus, showId } from "@bursar/protocol";
import type { Transaction, TransactionJudgement } from "../transaction.js";

/** The approvals that a transaction requires or required; null if it needs none. */
export function presentApproval(transaction: Transaction): ApprovalStatus | null {
  const { judgement } = transaction;
  if (judgement === null || judgement.requirement === null) return null;
  const { requirement, approvals, rule, walletNames } = judgement;
  const approvers = new Set(approvals.filter((one) => one.decision === "approve").map((one) => one.clientId));
  return {
    state: stateOf(transaction, judgement, approvers.size < requirement.approvals),
    rule,
    required: requirement.approvals,
    approved: approvers.size,
    digest: digestForApproval(transaction),
    expires_at: deadlineOf(judgement, requirement).toISOString(),
    signed: requirement.signed === true,
    people: requirement.people === true,
    wallets: Object.entries(walletNames ?? {})
      .map(([id, name]) => ({ id: showId("wlt", id), name }))
      .sort((one, other) => (one.id < other.id ? -1 : 1)),
    decisions: approvals.map(({ clientId, decision, comment, decidedAt, isSigned }) => ({
      client_id: showId("cli", clientId),
      decision,
      comment,
      decided_at: decidedAt.toISOString(),
      signed: isSigned,
    })),
  };
}

/** Until when approvers can decide; undefined if it needs no approval. */
export function approvalDeadline(
  { judgement }: Transaction,
  requirement: ApprovalRequirement,
): Date | undefined {
  return judgement === null ? undefined : deadlineOf(judgement, requirement);
}

function deadlineOf({ judgedAt }: TransactionJudgement, { expiresAfterSeconds }: ApprovalRequirement): Date {
  return new Date(judgedAt.getTime() + expiresAfterSeconds * 1000);
}

/** The digest that an approval names: of everything that decides where the money goes, and of who asked for it. */
export function digestForApproval(transaction: Transaction): string {
  return hash("sha256", contentForApproval(transaction), "hex");
}

/** The text behind the digest. */
export function contentForApproval(transaction: Transaction): string {
  const { parties, asset, clientId } = transaction;
  if (parties.kind === "deposit" || clientId === null) throw new Error("nobody approves a deposit");
  const { tenantId, id, amount, expiresAt } = transaction;
  const { kind, source, destination } = parties;
  const { code, network, decimals } = asset;
  const sourceWalletId = source.walletId;
  const payment = { tenantId, id, kind, asset: code, decimals, network, amount, sourceWalletId, destination };
  return contentOf({ ...payment, expiresAt, clientId });
}

/** A payment as its row has it, which need not be as it was when somebody approved it. */
export interface PaymentToApprove {
  tenantId: string;
  id: string;
  kind: string;
  asset: string;
  decimals: number;
  network: string;
  amount: bigint;
  sourceWalletId: string;
  destination: { walletId: string } | { address: string };
  expiresAt: Date | null;
  clientId: string;
}

/** The same digest, for the engine, which pays what the rows say. */
export function digestOfPayment(payment: PaymentToApprove): string {
  return hash("sha256", contentOf(payment), "hex");
}

/** The id of a payment as the audit log has it. */
export function shownPaymentId(id: string): string {
  return showId("tx", id);
}

function contentOf({
  tenantId,
  id,
  sourceWalletId,
  destination,
  clientId,
  ...rest
}: PaymentToApprove): string {
  return approvalContent({
    tenantId: showId("tnt", tenantId),
    transactionId: showId("tx", id),
    kind: rest.kind,
    asset: rest.asset,
    network: rest.network,
    amount: rest.amount,
    decimals: rest.decimals,
    sourceWalletId: showId("wlt", sourceWalletId),
    destination: "walletId" in destination ? { walletId: showId("wlt", destination.walletId) } : destination,
    expiresAt: rest.expiresAt?.toISOString() ?? null,
    createdBy: showId("cli", clientId),
  });
}

/** By what has happened, not by the clock: the same transaction at the same version looks the same whenever it is shown. */
function stateOf(
  { steps }: Transaction,
  { approvals }: TransactionJudgement,
  isMissingSome: boolean,
): ApprovalStatus["state"] {
  const last = steps.at(-1);
  if (last?.failure === "APPROVAL_REJECTED" || approvals.some(({ decision }) => decision === "reject"))
    return "rejected";
  if (last?.failure === "APPROVAL_EXPIRED") return "expired";
  if (last?.state === "awaiting_approval") return "pending";
  const isClosed =
    last?.state === "cancelled" ||
    last?.failure === "EXPIRED" ||
    last?.failure === "POLICY_REJECTED" ||
    // Such as one without funds, which fails before anybody is asked.
    (last?.state === "failed" && isMissingSome);
  return isClosed ? "closed" : "approved";
}
