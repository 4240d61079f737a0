import { externalAccountId } from "../ledger/accounts.js";
import type { TransactionState, transactionStates } from "./transitions.js";

export const transactionKinds = ["transfer", "payout", "deposit", "sweep", "refuel"] as const;

export type TransactionKind = (typeof transactionKinds)[number];

/** A wallet of the tenant. */
export interface WalletParty {
  walletId: string;
}

/** An address outside, on the network of the transaction's asset. */
export interface AddressParty {
  address: string;
}

/** Where a deposit came from; null if the network does not name one sender. */
export interface SenderParty {
  address: string | null;
}

/**
 * Who pays whom. Inside a tenant, wallets pay wallets: because a client asked for it (`transfer`), to gather deposits (`sweep`) or to
 * give a wallet coins for fees (`refuel`). A `payout` leaves the tenant's wallets, a `deposit` arrives in one.
 */
export type TransactionParties =
  | { kind: "transfer"; source: WalletParty; destination: WalletParty }
  | { kind: "sweep" | "refuel"; source: WalletParty; destination: WalletParty }
  | { kind: "payout"; source: WalletParty; destination: AddressParty }
  | { kind: "deposit"; source: SenderParty; destination: WalletParty };

/** The account of a party: a wallet's own, or that of everything outside the network. */
export function accountOfParty(party: WalletParty | AddressParty | SenderParty, network: string): string {
  return "walletId" in party ? party.walletId : externalAccountId(network);
}

export interface AssetAmount {
  asset: string;
  amount: bigint;
}

/** Where a network has put a transaction. */
export interface Receipt {
  hash: string;
  block: { number: number; hash: string };
}

/** The version of the policy, and its rule, that rejects a transaction, and the reason that the rule gives. */
export interface PolicyRejection {
  version: number;
  rule: string;
  reason: string;
}

/** What an event adds to the record of a transaction, beside its new state. */
export interface TransactionDetails {
  hash?: string;
  block?: Receipt["block"];
  /** What the network charged. */
  fee?: AssetAmount;
  policy?: PolicyRejection;
}

type FinalState = {
  [State in TransactionState]: (typeof transactionStates)[State]["final"] extends true ? State : never;
}[TransactionState];

/** What a decision needs to know of a transaction. Only one that a rail is working on can hold something for the network's fee. */
export type DecidableTransaction = {
  tenantId: string;
  version: number;
  /** The network that the money moves on. A fee is paid to what is outside of it. */
  network: string;
  asset: string;
  amount: bigint;
  /** The account that pays: of a wallet, or of what is outside the network, for a deposit. */
  sourceAccountId: string;
  destinationAccountId: string;
} & (
  | { state: "accepted" | "awaiting_approval" | FinalState; feeHold: null }
  | { state: "processing" | "broadcast" | "confirming"; feeHold: AssetAmount | null }
);
