import type { WalletKey } from "./chain-store.js";
import type { HaltCode } from "./halt.js";

/** The row of a sender, locked. */
export interface LockedSender extends WalletKey {
  /** After nonces were taken back, the lowest one that no payment has. */
  nextNonce: number;
  /** Whether a payment was given a later one. */
  hasLater: boolean;
  /** The lowest nonce that is not used, and that the signer has bound a payment to which has none here; null if there is none. */
  boundNonce: number | null;
  isHalted: boolean;
  haltedCode: HaltCode | null;
  /** Whether the chain and the signer were asked since the database may have gone back, and knew no payment that it does not know. */
  isConfirmed: boolean;
  /** Of the database. */
  epoch: number;
  /** Locked against a freeze: one that was answered is obeyed, and one that comes now waits for this unit. */
  isFrozen: boolean;
  /** How many of its payments are in no block. */
  inFlight: number;
}
