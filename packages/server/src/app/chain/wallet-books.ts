import { showId } from "@bursar/protocol";
import type { TransactionKey } from "../transactions/settlement.js";
import type { FollowedBlock, WalletKey } from "./chain-store.js";

/** Something that a wallet has received and that is not credited. */
export interface GatheredAmount extends WalletKey {
  asset: string;
  amount: bigint;
}

/** What has left a wallet without the service, and is recorded as a payout. */
export interface NewLoss extends TransactionKey, WalletKey {
  asset: string;
  amount: bigint;
  address: string;
  /** The account of everything outside the network. */
  outsideId: string;
  idempotencyKey: string;
  requestHash: string;
  reference: string;
  createdAt: Date;
}

/** A wallet whose balances are to be compared with the chain. */
export interface ComparedWallet extends WalletKey {
  address: string;
}

/** As it is listed, before nodes are asked about it. */
export interface ListedWallet extends ComparedWallet {
  comparedNumber: number;
  statedNonce: number | null;
  isHalted: boolean;
}

/** How an alert names it. */
export function nameWallet({ walletId, address }: ComparedWallet): string {
  return `the wallet ${showId("wlt", walletId)} (${address})`;
}

/** Those that have changed and new ones, by their ids; or of the others, those that were compared before a block, longest ago first. */
export type ComparedPage = { limit: number } & (
  | { of: "touched"; afterWalletId: string | undefined }
  | { of: "others"; beforeNumber: number }
);

export interface Holding extends WalletKey {
  asset: string;
  onChain: bigint;
}

/** Books that belong to a settled block, which is not known right after a network was resumed. */
export interface SettledBooks {
  settled: FollowedBlock | undefined;
  wallets: ComparedWallet[];
  books: WalletBooks[];
}

/** What the books say about a wallet. */
export interface WalletBooks extends WalletKey {
  /** Nonces below it are used; not above one that was taken back, and that no payment has got since. */
  finalNonce: number;
  /** The lowest nonce of its payments that are in no block; null if there are none. */
  lowestOpen: number | null;
  isHalted: boolean;
  /** How many of its transactions are final, as the operator has stated to continue it; null if nothing is stated. */
  statedNonce: number | null;
  /** By asset: available and held, and what was gathered. */
  balances: ReadonlyMap<string, { booked: bigint; gathered: bigint }>;
}
