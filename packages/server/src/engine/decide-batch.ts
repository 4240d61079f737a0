import {
  accountName,
  type Balance,
  countsTowardsLimits,
  countTransaction,
  decide,
  type FailureCode,
  judgeWithUsage,
  type PolicyRequest,
  type TransactionEvent,
  tallyApprovals,
  type UsageByWindow,
} from "@bursar/domain";
import type { ActivePolicy } from "../app/policy/policy.js";
import type { Rail } from "../app/transactions/rail.js";
import type {
  Accounts,
  ClaimedTransaction,
  NewJudgement,
  Settlement,
} from "../app/transactions/settlement.js";

export interface BatchFacts {
  accounts: Accounts;
  usage: UsageByWindow;
  rails: ReadonlyMap<string, Rail>;
  /** The policies of the tenants that have something to be judged. */
  policies: ReadonlyMap<string, ActivePolicy>;
  now: Date;
}

/**
 * Decides a batch, one after the other in the order of acceptance. Each decision sees the balances and sums that the one before has
 * left, so that a batch is the same as its transactions one by one.
 */
export function decideBatch(claimed: readonly ClaimedTransaction[], facts: BatchFacts): Settlement[] {
  return claimed.map((transaction) => settle(transaction, facts));
}

function settle(transaction: ClaimedTransaction, facts: BatchFacts): Settlement {
  const { tenantId, asset, amount, state, version, sourceWalletId, destinationWalletId } = transaction;
  const { accounts, now } = facts;
  // The clock of whoever accepted it may be ahead of this one; nothing happens before it was accepted.
  const occurredAt = new Date(Math.max(now.getTime(), transaction.createdAt.getTime()));
  const course = choose(transaction, facts, occurredAt);
  const { dueAt, judgement } = course;
  if (course.event === undefined) return { transaction, decision: undefined, occurredAt, dueAt, judgement };

  const sourceName = accountName({ tenantId, accountId: sourceWalletId, asset });
  const destinationName = accountName({ tenantId, accountId: destinationWalletId, asset });
  const source = balanceOf(accounts, sourceName);
  const destination = balanceOf(accounts, destinationName);
  const decision = decide({ state, version, amount, source, destination }, course.event, course.failure);
  if (decision === "impossible") throw new Error(`${course.event} is impossible in the state ${state}`);
  accounts.set(sourceName, decision.source);
  accounts.set(destinationName, decision.destination);
  const policy = facts.policies.get(tenantId)?.policy;
  if (policy !== undefined && state === "accepted" && countsTowardsLimits(decision.state))
    countTransaction(policy, toPolicyRequest(transaction), facts.usage);
  return { transaction, decision, occurredAt, dueAt, judgement };
}

/** What is to happen to a transaction; nothing yet, where it goes on waiting. */
interface Course {
  event: TransactionEvent | undefined;
  failure: FailureCode | null;
  dueAt: Date | null;
  judgement: NewJudgement | null;
}

const unjudged = { failure: null, dueAt: null, judgement: null };

function choose(transaction: ClaimedTransaction, facts: BatchFacts, occurredAt: Date): Course {
  if (transaction.expiresAt !== null && transaction.expiresAt <= occurredAt) return failing("EXPIRED");
  if (transaction.approval !== null) return hearPeople(transaction, transaction.approval, facts, occurredAt);
  if (transaction.sourceIsFrozen) return failing("WALLET_FROZEN");
  if (transaction.needsJudgement) return judge(transaction, facts, occurredAt);
  return { event: firstEventOf(transaction, facts), failure: null, dueAt: null, judgement: null };
}

function failing(failure: FailureCode): Course {
  return { ...unjudged, event: "fail", failure };
}

function judge(transaction: ClaimedTransaction, facts: BatchFacts, occurredAt: Date): Course {
  const active = facts.policies.get(transaction.tenantId);
  if (active === undefined) throw new Error("a policy was not loaded");
  const { verdict } = judgeWithUsage(active.policy, toPolicyRequest(transaction), facts.usage);
  const judgement = { policyVersion: active.version, rule: verdict.rule, reason: null, requirement: null };
  switch (verdict.kind) {
    case "allow":
      return { ...unjudged, event: firstEventOf(transaction, facts), judgement };
    case "reject":
      return {
        ...unjudged,
        event: "reject",
        failure: "POLICY_REJECTED",
        judgement: { ...judgement, reason: verdict.reason },
      };
    case "require_approval": {
      const { requirement } = verdict;
      const deadlineMs = occurredAt.getTime() + requirement.expiresAfterSeconds * 1000;
      const dueAt = dueTime(transaction, deadlineMs);
      return { ...unjudged, event: "ask_approval", dueAt, judgement: { ...judgement, requirement } };
    }
  }
}

function hearPeople(
  transaction: ClaimedTransaction,
  { requirement, askedAt, approvals }: NonNullable<ClaimedTransaction["approval"]>,
  facts: BatchFacts,
  occurredAt: Date,
): Course {
  const asked = { initiatorId: transaction.clientId, askedAtMs: askedAt.getTime() };
  const tally = tallyApprovals(requirement, asked, approvals, occurredAt.getTime());
  switch (tally.state) {
    case "approved":
      return transaction.sourceIsFrozen
        ? failing("WALLET_FROZEN")
        : { ...unjudged, event: firstEventOf(transaction, facts) };
    case "rejected":
      return { ...unjudged, event: "reject", failure: "APPROVAL_REJECTED" };
    case "expired":
      return { ...unjudged, event: "reject", failure: "APPROVAL_EXPIRED" };
    case "pending":
      return { ...unjudged, event: undefined, dueAt: dueTime(transaction, tally.deadlineMs) };
  }
}

/** Whichever comes first: the end of the time to approve, or of the transaction itself. */
function dueTime({ expiresAt }: ClaimedTransaction, deadlineMs: number): Date {
  return new Date(expiresAt === null ? deadlineMs : Math.min(deadlineMs, expiresAt.getTime()));
}

function firstEventOf({ network }: ClaimedTransaction, { rails }: BatchFacts): TransactionEvent {
  const rail = rails.get(network);
  if (rail === undefined) throw new Error(`there is no rail for the network ${network}`);
  return rail.firstEvent;
}

/** A claimed transaction as policy sees it. Only a tenant's own wallets can be paid on the book. */
export function toPolicyRequest(transaction: ClaimedTransaction): PolicyRequest {
  const { tenantId, clientId, asset, amount, network, sourceWalletId, sourcePurpose, createdAt } =
    transaction;
  return {
    tenantId,
    clientId,
    asset,
    amount,
    network,
    sourceWalletId,
    sourcePurpose,
    destination: "own_wallet",
    requestedAtMs: createdAt.getTime(),
  };
}

function balanceOf(accounts: Accounts, name: string): Balance {
  const balance = accounts.get(name);
  if (balance === undefined) throw new Error("an account was not locked");
  return balance;
}
