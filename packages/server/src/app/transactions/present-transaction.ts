import { type FailureCode, formatAmount, type RejectionCode, type TransactionParties } from "@bursar/domain";
import { showId, type Transaction as TransactionBody } from "@bursar/protocol";
import { presentActor } from "../events/actor.js";
import { presentApproval } from "./approvals/present-approval.js";
import type { Transaction, TransactionJudgement, TransactionStep } from "./transaction.js";

const failureMessages: Record<RejectionCode | FailureCode, string> = {
  INSUFFICIENT_FUNDS: "Insufficient funds in the source wallet.",
  INSUFFICIENT_FEE_FUNDS: "Insufficient funds in the source wallet for the network's fee.",
  EXPIRED: "It expired before it was processed.",
  WALLET_FROZEN: "The source wallet is frozen.",
  POLICY_REJECTED: "A policy rule rejected it.",
  APPROVAL_REJECTED: "An approver rejected it.",
  APPROVAL_EXPIRED: "It was not approved in time.",
  ADDRESS_NOT_LISTED: "Its address was removed from the allow-list before it was sent.",
  WOULD_REVERT: "The network would revert it, so it was not sent.",
  FEE_TOO_HIGH: "The network's fee would be above the maximum for a payment, so it was not sent.",
  EXECUTION_REVERTED: "The network reverted it.",
  NONCE_TAKEN: "Another transaction of the same address used its nonce, so it can never be sent.",
  DEPOSIT_REORGANISED: "A reorganisation of the network removed the deposit.",
};

/** A transaction as every reader sees it. Acceptance is the first entry of its history: version 1, and no event. */
export function presentTransaction(transaction: Transaction): TransactionBody {
  const { steps, createdAt, asset, judgement, parties } = transaction;
  const last = steps.at(-1);
  const rejection = last?.details?.policy ?? null;
  const created = createdAt.toISOString();
  return {
    id: showId("tx", transaction.id),
    object: "transaction",
    kind: parties.kind,
    reference: transaction.reference,
    asset: asset.code,
    amount: formatAmount(transaction.amount, asset.decimals),
    state: last?.state ?? "accepted",
    version: last?.version ?? 1,
    source: parties.kind === "deposit" ? presentSender(parties.source) : presentParty(parties.source),
    destination: presentParty(parties.destination),
    fee: presentFee(last),
    network: asset.network,
    ...presentPlace(steps),
    failure: last?.failure == null ? null : presentFailure(last.failure, rejection ?? judgement),
    policy_version: rejection?.version ?? judgement?.policyVersion ?? transaction.policyVersion,
    policy_rule: rejection?.rule ?? judgement?.rule ?? transaction.policyRule,
    approval: presentApproval(transaction),
    cancel_request: presentCancelRequest(transaction),
    history: [
      { version: 1, state: "accepted", occurred_at: created },
      ...steps.map((step) => presentStep(step, judgement)),
    ],
    metadata: { ...transaction.metadata },
    expires_at: transaction.expiresAt?.toISOString() ?? null,
    created_by: presentActor(transaction.clientId).client_id,
    created_at: created,
    updated_at: last === undefined ? created : last.occurredAt.toISOString(),
  };
}

function presentCancelRequest({ cancelRequest: request }: Transaction): TransactionBody["cancel_request"] {
  if (request === null) return null;
  return { requested_at: request.requestedAt.toISOString(), requested_by: presentActor(request.actorId) };
}

function presentParty(party: TransactionParties["destination"]) {
  return "walletId" in party ? { wallet_id: showId("wlt", party.walletId) } : { address: party.address };
}

function presentSender({ address }: Extract<TransactionParties, { kind: "deposit" }>["source"]) {
  return address === null ? null : { address };
}

/** Where its network has it: under the last hash, in the block of the last step that has one, unless it was taken out since. */
function presentPlace(steps: readonly TransactionStep[]): Pick<TransactionBody, "hash" | "block"> {
  const hash = steps.findLast(({ details }) => details?.hash != null)?.details?.hash ?? null;
  const placed = steps.findLast(({ state, details }) => state === "broadcast" || details?.block != null);
  const block = placed?.details?.block ?? null;
  return { hash, block: block === null ? null : { number: block.number, hash: block.hash } };
}

/** What the network charged, which the last event says. */
function presentFee(last: TransactionStep | undefined) {
  const fee = last?.details?.fee ?? null;
  return fee === null
    ? null
    : { asset: fee.asset.code, amount: formatAmount(fee.amount, fee.asset.decimals) };
}

function presentFailure(
  code: RejectionCode | FailureCode,
  by: { rule: string; reason: string | null } | null,
): TransactionBody["failure"] {
  if (code !== "POLICY_REJECTED" || by === null) return { code, message: failureMessages[code] };
  return { code, message: by.reason ?? failureMessages[code], rule: by.rule };
}

function presentStep(
  { version, state, occurredAt, actorId }: TransactionStep,
  judgement: TransactionJudgement | null,
): TransactionBody["history"][number] {
  const actor = actorId === null ? {} : { actor: presentActor(actorId) };
  const entry = { version, state, occurred_at: occurredAt.toISOString(), ...actor };
  const approval = judgement?.approvals.find((one) => one.version === version);
  if (approval === undefined) return entry;
  const { clientId, decision, comment } = approval;
  return { ...entry, approval: { client_id: showId("cli", clientId), decision, comment } };
}
