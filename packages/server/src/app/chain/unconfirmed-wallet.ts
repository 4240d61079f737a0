import type { WalletKey } from "./chain-store.js";
import type { SignedNonce } from "./signer.js";
import type { ComparedWallet } from "./wallet-books.js";

/** A nonce of a wallet that the signer has bound to a transaction. */
export interface SignedOfWallet extends SignedNonce, WalletKey {}

/** One that does not belong to that transaction in the database. */
export interface UnknownNonce extends SignedOfWallet {
  /** Whether the row of the payment says so, because the signer has refused it another nonce. It shows nothing new. */
  isNoted: boolean;
}

/** A payment that the signer has bound to a nonce, which it does not have in the database. */
export interface BoundPayment extends WalletKey {
  id: string;
}

/**
 * All that are not halted because the chain or the signer is ahead, or only those with payments that have no nonce; or those that were confirmed
 * until they were halted for that reason.
 */
export type UnconfirmedPage = { limit: number } & (
  | { of: "all" | "halted"; after: UnconfirmedWallet | undefined }
  | { of: "waiting"; afterWalletId: string | undefined }
);

export interface UnconfirmedList {
  wallets: UnconfirmedWallet[];
  /** Undefined at the end. */
  next: UnconfirmedPage | undefined;
}

export interface UnconfirmedWallet extends ComparedWallet {
  /** All nonces below it are used by payments that the database knows. */
  finalNonce: number;
  /** As of a locked sender. */
  nextNonce: number;
  hasLater: boolean;
  /** The epoch in which it was confirmed last, negative if it was halted since, and the one that the database is in. */
  confirmedEpoch: number;
  epoch: number;
}

/** Whether it was confirmed in this epoch until it was halted. An earlier version has written 0 at a halt, which does not say in which. */
export function wasConfirmed({ confirmedEpoch, epoch }: UnconfirmedWallet): boolean {
  return confirmedEpoch === 0 || -confirmedEpoch >= epoch;
}
