import { type FailureCode, formatAmount, isoTime } from "@bursar/domain";
import { showId, type Transaction as TransactionBody } from "@bursar/protocol";
import { presentApproval } from "./present-approval.js";
import type { Transaction, TransactionJudgement, TransactionStep } from "./transaction.js";

const failureMessages: Record<FailureCode, string> = {
  INSUFFICIENT_FUNDS: "The source wallet did not have enough.",
  EXPIRED: "It had not been processed when it expired.",
  WALLET_FROZEN: "The source wallet is frozen.",
  POLICY_REJECTED: "Policy has refused it.",
  APPROVAL_REJECTED: "Somebody who was asked has refused it.",
  APPROVAL_EXPIRED: "It was not approved in time.",
};

/** A transaction as every reader sees it. Acceptance is the first entry of its history: version 1, and no event. */
export function presentTransaction(transaction: Transaction): TransactionBody {
  const { steps, createdAt, asset, judgement } = transaction;
  const last = steps.at(-1);
  const created = isoTime(createdAt);
  return {
    id: showId("tx", transaction.id),
    object: "transaction",
    kind: "transfer",
    reference: transaction.reference,
    asset: asset.code,
    amount: formatAmount(transaction.amount, asset.decimals),
    state: last?.state ?? "accepted",
    version: last?.version ?? 1,
    source: { wallet_id: showId("wlt", transaction.sourceWalletId) },
    destination: { wallet_id: showId("wlt", transaction.destinationWalletId) },
    fee: null,
    network: "book",
    failure: last?.failure == null ? null : presentFailure(last.failure, judgement),
    policy_version: judgement?.policyVersion ?? transaction.policyVersion,
    approval: presentApproval(transaction),
    history: [
      { version: 1, state: "accepted", occurred_at: created },
      ...steps.map((step) => presentStep(step, judgement)),
    ],
    metadata: { ...transaction.metadata },
    expires_at: transaction.expiresAt?.toISOString() ?? null,
    created_at: created,
    updated_at: last === undefined ? created : isoTime(last.occurredAt),
  };
}

function presentFailure(
  code: FailureCode,
  judgement: TransactionJudgement | null,
): TransactionBody["failure"] {
  if (code !== "POLICY_REJECTED" || judgement === null) return { code, message: failureMessages[code] };
  return { code, message: judgement.reason ?? failureMessages[code], rule: judgement.rule };
}

function presentStep(
  { version, state, occurredAt }: TransactionStep,
  judgement: TransactionJudgement | null,
): TransactionBody["history"][number] {
  const entry = { version, state, occurred_at: isoTime(occurredAt) };
  const approval = judgement?.approvals.find((one) => one.version === version);
  if (approval === undefined) return entry;
  const { clientId, decision, comment } = approval;
  return { ...entry, approval: { client_id: showId("cli", clientId), decision, comment } };
}
