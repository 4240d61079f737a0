import type { SignedAttempt } from "../records/signed-attempts.js";
import { type FeeLimits, findExceededLimit } from "./fee-limits.js";
import { type SigningIntent, transactionOf } from "./intent.js";
import { digestOf } from "./transaction.js";

export interface Refusal {
  readonly refused:
    | "WALLET_UNKNOWN"
    | "DIFFERENT_PAYMENT"
    | "NONCE_USED"
    | "FEES_NOT_HIGHER"
    | "FEE_ABOVE_LIMIT"
    | "CANCELLED"
    | "INTENT_INVALID";
  readonly reason: string;
  /** What was signed instead, of the same wallet: the transaction with another nonce, or another transaction with the nonce. */
  readonly signed?: SignedNonce;
}

/** A nonce, and the transaction that it was signed for. */
export interface SignedNonce {
  readonly nonce: number;
  readonly transactionId: string;
}

/** What is known when an intent is judged. */
export interface SigningFacts {
  /** The number of the sender's record. */
  readonly wallet: number;
  readonly digest: Uint8Array;
  /** What was signed for the transaction, the latest first. */
  readonly attempts: readonly SignedAttempt[];
  /** What was signed with the nonce. */
  readonly withNonce: SignedAttempt | undefined;
  readonly limits: FeeLimits;
}

/** `known`: exactly this was signed before, so that the same bytes are returned and nothing is recorded. */
export type SigningDecision = "new" | "known" | Refusal;

/**
 * A transaction has one payment and one nonce. Whatever is signed for it has this nonce, so that a chain can execute only one of
 * the attempts; with the same payment or none, it cannot be paid twice.
 */
export function decideSigning(intent: SigningIntent, facts: SigningFacts): SigningDecision {
  const [latest] = facts.attempts;
  const judged = latest === undefined ? judgeFirst(intent, facts) : judgeFurther(intent, facts, latest);
  if (judged !== undefined) return judged;
  const exceeded = findExceededLimit(facts.limits, intent);
  return exceeded === undefined ? "new" : { refused: "FEE_ABOVE_LIMIT", reason: exceeded };
}

function judgeFirst(intent: SigningIntent, { withNonce }: SigningFacts): Refusal | undefined {
  if (withNonce === undefined) return undefined;
  return {
    refused: "NONCE_USED",
    reason: `The nonce ${intent.nonce} of ${intent.address} on ${intent.network} was signed for the transaction ${withNonce.transactionId}.`,
    signed: { nonce: intent.nonce, transactionId: withNonce.transactionId },
  };
}

function judgeFurther(
  intent: SigningIntent,
  { wallet, digest, attempts }: SigningFacts,
  latest: SignedAttempt,
): "known" | Refusal | undefined {
  const { transactionId, nonce, purpose } = intent;
  if (latest.wallet !== wallet)
    return different(`The transaction ${transactionId} was signed with another wallet.`);
  if (latest.nonce !== nonce)
    return {
      ...different(`The transaction ${transactionId} was signed with the nonce ${latest.nonce}.`),
      signed: { nonce: latest.nonce, transactionId },
    };
  if (attempts.some((attempt) => isEqual(attempt.digest, digest))) return "known";
  if (purpose !== "cancellation") {
    const payment = attempts.find(({ isCancellation }) => !isCancellation);
    if (payment !== undefined && !isSamePayment(intent, payment))
      return different(`The transaction ${transactionId} was signed with another payment.`);
    if (latest.isCancellation)
      return {
        refused: "CANCELLED",
        reason: `A cancellation of the transaction ${transactionId} was signed, so its payment is not signed again.`,
      };
  }
  if (purpose !== "payment" && isHigher(intent, latest)) return undefined;
  return {
    refused: "FEES_NOT_HIGHER",
    reason: `The transaction ${transactionId} was signed with ${latest.maxFeePerGas} wei per gas and a priority fee of ${latest.maxPriorityFeePerGas}. A replacement or cancellation must raise both by at least 10 %.`,
  };
}

/** The digest of the signed attempt is computed again, from the payment of the intent and the terms of the attempt. */
function isSamePayment(intent: SigningIntent, attempt: SignedAttempt): boolean {
  const { gasLimit, maxFeePerGas, maxPriorityFeePerGas } = attempt;
  const asSigned = { ...intent, gasLimit, maxFeePerGas, maxPriorityFeePerGas };
  return isEqual(digestOf(transactionOf(asSigned)), attempt.digest);
}

/** Nodes replace a transaction in their pool if both fees are at least 10 % higher. */
function isHigher(intent: SigningIntent, attempt: SignedAttempt): boolean {
  const isRaised = (now: bigint, before: bigint) => now > before && now * 10n >= before * 11n;
  return (
    isRaised(intent.maxFeePerGas, attempt.maxFeePerGas) &&
    isRaised(intent.maxPriorityFeePerGas, attempt.maxPriorityFeePerGas)
  );
}

function different(reason: string): Refusal {
  return { refused: "DIFFERENT_PAYMENT", reason };
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
