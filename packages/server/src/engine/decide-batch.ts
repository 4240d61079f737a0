import {
  type ApprovalTally,
  countsTowardsLimits,
  countTransaction,
  type Decision,
  decideOnBalances,
  type FailureCode,
  type TransactionEvent,
  type UsageByWindow,
} from "@bursar/domain";
import type { Balances } from "../app/ledger/ledger-unit.js";
import { type JudgementPlan, judgePlanned } from "../app/policy/judge-batch.js";
import type { Rails } from "../app/rails/rail.js";
import { tallyPending } from "../app/transactions/approvals/tally-pending.js";
import type {
  ClaimedPayment,
  NewJudgement,
  PendingApproval,
  Settlement,
} from "../app/transactions/settlement.js";

export interface BatchFacts {
  balances: Balances;
  usage: UsageByWindow;
  rails: Pick<Rails, "get">;
  /** Wallets whose payments may have been made already: none of them ends. */
  behind: ReadonlySet<string>;
  policies: JudgementPlan["policies"];
  now: Date;
}

/**
 * Decides a batch, one after the other in the order of acceptance. Each decision sees the balances and sums that the one before has
 * left, so that a batch is the same as its transactions one by one.
 */
export function decideBatch(claimed: readonly ClaimedPayment[], facts: BatchFacts): Settlement[] {
  return claimed.map((payment) => decideOne(payment, facts));
}

function decideOne(payment: ClaimedPayment, facts: BatchFacts): Settlement {
  // The clock of the process that accepted it may be ahead of this one; nothing happens before it was accepted.
  const occurredAt = new Date(Math.max(facts.now.getTime(), payment.createdAt.getTime()));
  const { event, dueAt, judgement, ...held } = chooseEvent(payment, facts, occurredAt);
  if (event === undefined)
    return { transaction: payment, decision: undefined, occurredAt, dueAt, judgement, ...held };
  const decision = decideUnlessBehind(payment, event, facts);
  if (decision === undefined) {
    const heldUntil = new Date(occurredAt.getTime() + behindRestMs);
    const wait = { dueAt: payment.approval === null ? null : new Date(0), judgement: null, heldUntil };
    return { transaction: payment, decision, occurredAt, ...wait };
  }
  const policy = facts.policies.get(payment.tenantId)?.policy;
  if (policy !== undefined && payment.state === "accepted" && countsTowardsLimits(decision.state))
    countTransaction(policy, payment, facts.usage);
  const actor = event.kind === "cancel" ? { actorId: payment.cancelRequestedBy ?? null } : {};
  return { transaction: payment, decision, occurredAt, dueAt, judgement, ...actor };
}

/** How long what could have ended is not looked at. A wallet is confirmed within seconds, or halted for much longer. */
const behindRestMs = 10_000;

/** Undefined if the payment would end, and may have been made: a client that reads that it failed would request it again. */
function decideUnlessBehind(
  payment: ClaimedPayment,
  event: TransactionEvent,
  { balances, behind }: BatchFacts,
): Decision | undefined {
  if (!behind.has(payment.sourceAccountId)) return decideOrFail(payment, event, balances);
  if (event.kind === "cancel" || event.kind === "fail" || event.kind === "reject") return undefined;
  const decision = decideOnBalances(payment, event, balances);
  if (decision === "insufficient") return undefined;
  return typeof decision === "object" ? decision : decideOrFail(payment, event, balances);
}

/** Insufficient funds are an outcome, not an error: the event becomes a failure, which needs none. */
function decideOrFail(payment: ClaimedPayment, event: TransactionEvent, balances: Balances): Decision {
  const decision = decideOnBalances(payment, event, balances);
  if (typeof decision === "object") return decision;
  if (decision === "insufficient" && event.kind !== "fail")
    return decideOrFail(payment, failing("INSUFFICIENT_FUNDS"), balances);
  throw new Error(`the event ${event.kind} is ${decision} in the state ${payment.state}`);
}

/** What happens to a payment now; nothing, if it goes on waiting. */
interface Course {
  event: TransactionEvent | undefined;
  dueAt: Date | null;
  judgement: NewJudgement | null;
  heldUntil?: Date | "infinity";
  fault?: string;
}

/** For the operator. The MAC is right again when the row is, so that nothing but the row has to be restored. */
const tamperedFault =
  "The row of the transaction, or what it requires, was changed in the database by something other than Bursar, or the transaction had ended and was made open again. It is not processed. Restore the row from a backup or from its events, then retry it.";

const forgedStopFault =
  "The table stop_records has a row that Bursar has not written, about the wallet, the client or the tenant of the transaction. It is not processed. Remove the row as the owner of the table, then retry the transaction.";

function chooseEvent(payment: ClaimedPayment, facts: BatchFacts, occurredAt: Date): Course {
  if (payment.isTampered === true) return setAsideWith(tamperedFault);
  if (payment.hasForgedStop === true) return setAsideWith(forgedStopFault);
  if (payment.cancelRequested === true) return followCancel(payment, facts);
  // It does not wait for a decision: when its client is enabled again, it would be paid.
  if (payment.isRequestedWhileStopped === true) return unjudged({ kind: "cancel", fee: null });
  if (payment.expiresAt !== null && payment.expiresAt <= occurredAt) return unjudged(failing("EXPIRED"));
  if (payment.approval !== null) return countApprovals(payment, payment.approval, facts, occurredAt);
  if (payment.isHeld) return setAside(payment, null);
  if (payment.sourceIsFrozen) return unjudged(failing("WALLET_FROZEN"));
  if (payment.needsJudgement) return judge(payment, facts, occurredAt);
  return unjudged(firstEvent(payment, facts));
}

/**
 * It was requested while the payment could not end. If it still cannot, its rail gets it, where the operator sees it and it ends without a nonce,
 * or with an empty transaction. Nothing is paid, so it needs no approval: it is begun for that purpose alone, which its MAC says.
 */
function followCancel(payment: ClaimedPayment, facts: BatchFacts): Course {
  return unjudged(facts.behind.has(payment.sourceAccountId) ? begin : { kind: "cancel", fee: null });
}

function setAsideWith(fault: string): Course {
  return { event: undefined, dueAt: null, judgement: null, heldUntil: "infinity", fault };
}

/** It waits until its client is enabled, its tenant resumed, somebody cancels it, or it expires. */
function setAside({ expiresAt }: ClaimedPayment, dueAt: Date | null): Course {
  return { event: undefined, dueAt, judgement: null, heldUntil: expiresAt ?? "infinity" };
}

function unjudged(event: TransactionEvent): Course {
  return { event, dueAt: null, judgement: null };
}

function failing(failure: FailureCode): TransactionEvent {
  return { kind: "fail", failure, fee: null };
}

function judge(payment: ClaimedPayment, facts: BatchFacts, occurredAt: Date): Course {
  const { policyVersion, verdict } = judgePlanned(facts.policies, payment, facts.usage);
  const judgement = { policyVersion, rule: verdict.rule, reason: null, requirement: null };
  switch (verdict.kind) {
    case "allow":
      return { event: firstEvent(payment, facts), dueAt: null, judgement };
    case "reject":
      return {
        event: { kind: "reject", failure: "POLICY_REJECTED" },
        dueAt: null,
        judgement: { ...judgement, reason: verdict.reason },
      };
    case "require_approval": {
      const { requirement } = verdict;
      const deadlineMs = occurredAt.getTime() + requirement.expiresAfterSeconds * 1000;
      const dueAt = dueTime(payment, deadlineMs);
      return { event: { kind: "ask_approval" }, dueAt, judgement: { ...judgement, requirement } };
    }
  }
}

function countApprovals(
  payment: ClaimedPayment,
  pending: PendingApproval,
  facts: BatchFacts,
  occurredAt: Date,
): Course {
  if (pending.isRejected) return unjudged({ kind: "reject", failure: "APPROVAL_REJECTED" });
  const { tally, rejectedBy, waitsForPolicy } = tallyPending(payment, pending, facts.policies, occurredAt);
  if (rejectedBy !== null)
    return unjudged({ kind: "reject", failure: "POLICY_REJECTED", policy: rejectedBy });
  const course = followTally(payment, pending, facts, tally);
  if (course.event !== undefined || !waitsForPolicy || course.dueAt === null) return course;
  const againMs = occurredAt.getTime() + policyRestMs;
  return { ...course, dueAt: new Date(Math.min(course.dueAt.getTime(), againMs)) };
}

/**
 * How long a payment is not looked at that waits only for approvals which a later policy has added. Everybody who may approve can have done so: when
 * that policy is replaced, nobody has to act for the payment to go on.
 */
const policyRestMs = 60_000;

function followTally(
  payment: ClaimedPayment,
  { isDelisted }: PendingApproval,
  facts: BatchFacts,
  tally: ApprovalTally,
): Course {
  switch (tally.state) {
    case "approved":
      // Due at once when it is released.
      if (payment.isHeld) return setAside(payment, new Date(0));
      // What was approved is a payment to an address on the list; nobody has approved one to any other.
      if (isDelisted) return unjudged({ kind: "reject", failure: "ADDRESS_NOT_LISTED" });
      return unjudged(payment.sourceIsFrozen ? failing("WALLET_FROZEN") : firstEvent(payment, facts));
    case "rejected":
      return unjudged({ kind: "reject", failure: "APPROVAL_REJECTED" });
    case "expired":
      return unjudged({ kind: "reject", failure: "APPROVAL_EXPIRED" });
    case "pending":
      return { event: undefined, dueAt: dueTime(payment, tally.deadlineMs), judgement: null };
  }
}

/** The end of the time to approve, or of the transaction itself, if that is earlier. */
function dueTime({ expiresAt }: ClaimedPayment, deadlineMs: number): Date {
  return new Date(expiresAt === null ? deadlineMs : Math.min(deadlineMs, expiresAt.getTime()));
}

const settle: TransactionEvent = { kind: "settle" };
const begin: TransactionEvent = { kind: "begin" };

function firstEvent({ network }: ClaimedPayment, { rails }: BatchFacts): TransactionEvent {
  return rails.get(network).firstEvent === "settle" ? settle : begin;
}
