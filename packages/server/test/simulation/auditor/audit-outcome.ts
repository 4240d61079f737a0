import type { Transaction } from "../world/exchange.js";
import { units } from "./audit-log.js";
import type { Evidence } from "./auditor.js";

interface Outcome {
  transaction: Transaction;
  occurredMs: number;
  previousState: string;
  /** As it stood in the log right before. */
  source: { available: bigint; frozen: boolean };
  wasCancelled: boolean;
  evidence: Evidence;
}

/** Whether a transaction has ended as it had to: for the reason given, and not for lack of a better one. */
export function auditOutcome(outcome: Outcome): string[] {
  const { transaction, occurredMs, previousState, source, wasCancelled, evidence } = outcome;
  const { id, state, failure, asset } = transaction;
  const amount = units(transaction.amount, asset);
  const expiresMs = expiryOf(transaction, evidence);
  const isExpired = expiresMs !== undefined && expiresMs <= occurredMs;
  const violations: string[] = [];
  const must = (holds: boolean, what: string) => {
    if (!holds) violations.push(`${id} ${what}`);
  };
  must(Date.parse(transaction.created_at) <= occurredMs, "changed before it was there");
  must(
    (failure !== null) === ["failed", "rejected"].includes(state),
    "has a failure and no state that has one, or the other way round",
  );
  switch (state) {
    case "broadcast":
    case "confirming":
      must(previousState !== "accepted" || transaction.kind === "deposit", `was ${state} and never begun`);
      return violations;
    case "processing":
    case "completed":
      // What a rail has begun is paid from what is held, and a freeze or its expiry come too late for it.
      if (previousState !== "accepted") return violations;
      must(source.available >= amount, "was paid from money that was not there");
      must(!source.frozen, "was paid from a frozen wallet");
      must(!isExpired, "was paid after it had expired");
      return violations;
    case "cancelled":
      must(wasCancelled, "was cancelled and nobody asked for it");
      return violations;
    case "rejected":
      // Whether the limit was reached is seen when all times are known.
      must(evidence.transactionsMax !== undefined, "was rejected without a limit");
      must(failure?.code === "POLICY_REJECTED", `was rejected with ${failure?.code}`);
      return violations;
    case "failed":
      if (failure?.code === "EXPIRED") must(isExpired, "failed as expired, and was not");
      else if (failure?.code === "WALLET_FROZEN")
        must(source.frozen, "failed for a frozen wallet that was not");
      else if (failure?.code === "INSUFFICIENT_FUNDS")
        must(source.available < amount, "failed for want of money that was there");
      // The network says whether these are true.
      else if (!networkFailures.includes(failure?.code ?? "")) must(false, `failed with ${failure?.code}`);
      return violations;
    default:
      return [`${id} became ${state}`];
  }
}

const networkFailures = ["EXECUTION_REVERTED", "DEPOSIT_REORGANISED", "INSUFFICIENT_FEE_FUNDS"];

/** When it expires, which only its request says. */
function expiryOf({ reference }: Transaction, { exchanges }: Evidence): number | undefined {
  for (const { request } of exchanges) {
    if (request.kind !== "create" || request.body.reference !== reference) continue;
    return request.body.expires_at === undefined ? undefined : Date.parse(request.body.expires_at);
  }
  return undefined;
}
