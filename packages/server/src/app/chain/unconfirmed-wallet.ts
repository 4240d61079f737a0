import type { WalletKey } from "./chain-store.js";
import type { SignedNonce } from "./signer.js";
import type { ComparedWallet } from "./wallet-books.js";

/** A nonce of a wallet that the signer has bound to a transaction. */
export interface SignedOfWallet extends SignedNonce, WalletKey {}

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
