import type { TransactionKey } from "../transactions/settlement.js";
import type { BlockRef, FeeTerms, ObservedOutcome } from "./chain-node.js";
import type { FoundAttempt, PaymentFacts, WalletKey } from "./chain-store.js";
import type { SignedNonce, SigningIntent } from "./signer.js";
import type { SignedOfWallet } from "./unconfirmed-wallet.js";

/** The transaction that has used a nonce of an address, in a block that is final. */
export interface NonceUse {
  block: BlockRef;
  outcome: ObservedOutcome;
  /** Its bytes, and the terms in them; null if it has a form that no attempt of ours has. */
  signed: { bytes: string; terms: FeeTerms & { gasLimit: bigint } } | null;
}

/** A payment whose nonce is used according to the chain, and which is in no block according to the books. */
export interface TakenPayment extends PaymentFacts {
  nonce: number;
  /** How many of its attempts are stored. */
  attempt: number;
  /** Those of its attempts. */
  hashes: readonly string[];
  /** Whether one of them pays: an empty transaction does not make the transaction `broadcast`. */
  isBroadcast: boolean;
}

/** A payment without a nonce that the signer has signed with this one: the database has forgotten that. */
export interface ForgottenPayment extends TakenPayment {
  /** The database has given the nonce to another payment. */
  isOccupied: boolean;
  /** Its driver has it: what it pays is held. */
  isBegun: boolean;
}

/** A payment that has a nonce, and for which the database has no signature. */
export interface UnsignedNonce extends TransactionKey {
  nonce: number;
  /** It was to be replaced by an empty transaction. */
  isStopped: boolean;
}

/** One that the signer will never sign with its nonce. */
export interface UnsignableNonce extends UnsignedNonce {
  /** The only one that it will ever be signed with; null if it has signed nothing for the payment, as far as is known. */
  boundNonce: number | null;
}

/**
 * Those that the signer will never sign with their nonces: it has bound the nonce to another transaction, or the transaction to another nonce. Both
 * are for good, so no bytes of theirs with these nonces exist, or ever will.
 */
export function findUnsignable(
  payments: readonly UnsignedNonce[],
  signed: readonly SignedNonce[],
): UnsignableNonce[] {
  const idOf = new Map(signed.map(({ nonce, transactionId }) => [nonce, transactionId]));
  const nonceOf = new Map(signed.map(({ nonce, transactionId }) => [transactionId, nonce]));
  return payments
    .filter(({ id, nonce }) => (idOf.get(nonce) ?? id) !== id || (nonceOf.get(id) ?? nonce) !== nonce)
    .map((payment) => ({ ...payment, boundNonce: nonceOf.get(payment.id) ?? null }));
}

/** What a unit lists and changes when the signer knows more than the database. */
export interface UsedNonces {
  /** What the signer has bound payments without a nonce to, as it said when it refused them another, unless that is used: in the order of the nonces. */
  listBoundNonces: (wallets: readonly WalletKey[]) => Promise<SignedOfWallet[]>;
  /** Payments of a wallet that have a nonce and no signature, locked. */
  listUnsignedNonces: (wallet: WalletKey) => Promise<UnsignedNonce[]>;
  /** They have no nonces any more, and get no others than the signer has bound them to. The wallet is not confirmed. */
  reclaimNonces: (wallet: WalletKey, payments: readonly UnsignableNonce[]) => void;
  /** Payments of a wallet that are in no block, with a nonce below this one, locked. */
  listTaken: (wallet: WalletKey, below: number) => Promise<TakenPayment[]>;
  /** Locks their open transactions, in the order of their keys. */
  lockOpen: (keys: readonly TransactionKey[]) => Promise<void>;
  /** Payments of a wallet without a nonce that the signer has bound to one. Those that have begun are locked. */
  listForgotten: (wallet: WalletKey, signed: readonly SignedNonce[]) => Promise<ForgottenPayment[]>;
}

/**
 * What became of a payment. `ours`: one of its own attempts has used the nonce, with its purpose and, if the books have forgotten it, its
 * bytes. `other`: another transaction was seen with the nonce, so that no attempt can ever be included. `unseen`: nothing is known.
 */
export type NonceEvidence =
  | { kind: "ours"; use: NonceUse; purpose: SigningIntent["purpose"]; forgotten: NonceUse["signed"] }
  | { kind: "other" }
  | { kind: "unseen" };

const purposes = ["payment", "replacement", "cancellation"] as const;

/**
 * A payment fails for its nonce only if another transaction was seen with it. That no block shows one of its attempts says nothing: a node can
 * leave out a transaction, and a database that was restored does not know all attempts. Bytes that this payment is made of are an attempt of it,
 * because the nonce belongs to no other payment.
 */
export function weighNonceUse(
  payment: TakenPayment,
  use: NonceUse | undefined,
  known: FoundAttempt | undefined,
  isSignedFor: (purpose: SigningIntent["purpose"], signed: NonNullable<NonceUse["signed"]>) => boolean,
): NonceEvidence {
  if (use === undefined) return { kind: "unseen" };
  if (known !== undefined)
    return known.id === payment.id
      ? { kind: "ours", use, purpose: known.purpose, forgotten: null }
      : { kind: "other" };
  const { signed } = use;
  if (signed === null) return { kind: "other" };
  const purpose = purposes.find((one) => isSignedFor(one, signed));
  return purpose === undefined ? { kind: "other" } : { kind: "ours", use, purpose, forgotten: signed };
}
