import type { ReadyPayment } from "./chain-store.js";
import type { BoundPayment } from "./unconfirmed-wallet.js";

export interface ReadyPage {
  walletsMax: number;
  /** Begins after this wallet, in the order of their ids. */
  afterWalletId: string | undefined;
  inFlightMax: number;
  /** What the signer has bound to nonces of wallets that are not confirmed. */
  bound: readonly BoundPayment[];
  turns: ReadonlyMap<string, ReadyTurn>;
}

/** Of a wallet whose first payments cannot go on. */
export interface ReadyTurn {
  /** Only what comes after this payment is looked at. */
  afterId: string | undefined;
  /** How many payments the caller passes over: as many more are listed. */
  passedOver: number;
}

export interface ListedReady {
  /** Of each wallet as many as it has room for, and as many more as the caller passes over. */
  payments: ReadyPayment[];
  /** Where the next page begins; undefined at the end. */
  lastWalletId: string | undefined;
  /**
   * Of wallets that have room, and nothing that the caller does not pass over, by their ids: the last payment that was looked at. Undefined if there is
   * none behind it.
   */
  lookedUpTo: ReadonlyMap<string, string | undefined>;
}
