import type { WalletKey } from "./chain-store.js";
import type { SignedNonce } from "./signer.js";
import type { ComparedWallet } from "./wallet-books.js";

/** A nonce of a wallet that the signer has bound to a transaction. */
export interface SignedOfWallet extends SignedNonce, WalletKey {}

/** A payment that the signer has bound to a nonce, which it does not have in the database. */
export interface BoundPayment extends WalletKey {
  id: string;
}

export interface UnconfirmedPage {
  after: UnconfirmedWallet | undefined;
  limit: number;
}

export interface UnconfirmedWallet extends ComparedWallet {
  finalNonce: number;
  /** The epoch in which it was confirmed last, and the one that the database is in. */
  confirmedEpoch: number;
  epoch: number;
}
