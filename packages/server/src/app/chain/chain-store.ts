import type { TransactionKind } from "@bursar/domain";
import type { Lease, LeaseStore } from "../../runtime/loops/lease.js";
import type { SettlementUnit, TransactionKey } from "../transactions/settlement.js";
import type { ChainDeposit, DepositKey } from "./chain-deposit.js";
import type { BlockRef, FeeTerms } from "./chain-node.js";
import type { SeenHeads } from "./chain-status.js";
import type { Halt, MayBeTampered } from "./halt.js";
import type { LockedSender } from "./locked-sender.js";
import type { UsedNonces } from "./nonce-use.js";
import type { ListedReady, ReadyPage } from "./ready-page.js";
import type { SigningIntent } from "./signer.js";
import type { SignedHolds, StoppedPayment, StopReason, UnsignedHolds } from "./stop-payment.js";
import type * as unconfirmed from "./unconfirmed-wallet.js";
import type * as books from "./wallet-books.js";

export interface NetworkLease extends Lease {
  network: string;
}

export type NetworkLeases = LeaseStore<NetworkLease, string>;

/** A block that was followed. */
export interface FollowedBlock extends BlockRef {
  parentHash: string;
}

/** A lease, and the hash of the last block that its holder has followed; undefined if it has followed none. */
export interface ChainPosition {
  lease: NetworkLease;
  tipHash: string | undefined;
}

/** The database is not where the memory of the driver is. Nothing was written. */
export class ChainMovedError extends Error {}

/** How far a network is. */
export interface NetworkPosition {
  genesisHash: string;
  /** Why it is halted; null if it is not. */
  haltedReason: string | null;
  settledNumber: number;
  /** The settled block and those above it, in order; none at first and after it was resumed. */
  tail: FollowedBlock[];
}

export interface WalletKey {
  tenantId: string;
  walletId: string;
}

/** A payment, as its transaction says. */
export interface PaymentFacts extends TransactionKey {
  walletId: string;
  kind: TransactionKind;
  asset: string;
  amount: bigint;
  /** The sender. */
  address: string;
  /** Where it goes: of a wallet that is paid, its address; empty if that is missing in the database. */
  destination: string;
  destinationAccountId: string;
}

/** A payment that has no nonce yet. */
export interface ReadyPayment extends PaymentFacts, MayBeTampered {
  cancelRequested: boolean;
  /** The source is frozen: the payment fails. */
  isFrozen: boolean;
  /** Its address was on the allow-list when it was judged, and no longer is: the payment fails. */
  isDelisted: boolean;
  /** It fails from then on. */
  expiresAt: Date | null;
  /** The only nonce that the signer signs it with, if it has refused another one; null otherwise. */
  boundNonce: number | null;
}

/** What an attempt offers and may use. */
export interface AttemptTerms extends FeeTerms {
  purpose: SigningIntent["purpose"];
  gasLimit: bigint;
  /** What the network can charge beside the gas. */
  dataFee: bigint;
}

/** The terms of the next attempt of a payment, and its number. */
export type NumberedTerms = Omit<StoredAttempt, "hash" | "bytes">;

/** A payment that waits for a signature. */
export interface UnsignedPayment extends PaymentFacts, AttemptTerms, MayBeTampered, UnsignedHolds {
  nonce: number;
  /** The number of the attempt that is to be signed. */
  number: number;
}

/** A payment that was sent and is in no block. */
export interface SentPayment extends PaymentFacts, SignedHolds, MayBeTampered {
  nonce: number;
  number: number;
  hash: string;
  /** Those of its last attempt. */
  terms: AttemptTerms;
  /** The head when its terms were last decided. */
  termsNumber: number;
  /** The purpose of an attempt that waits for a signature; null if none does. */
  unsigned: AttemptTerms["purpose"] | null;
  speedUpRequested: boolean;
  /** A lower nonce of the wallet is not signed, or was taken back and no payment has it: no block can have this one before, whatever its fee. */
  waitsForLower: boolean;
}

export interface PaymentState extends UnsignedHolds {
  stage: "ready" | "assigned" | "signed" | "included" | "over";
  attempt: number;
  wanted: number;
  /** Of the attempt that is wanted. */
  purpose: AttemptTerms["purpose"];
}

export interface AssignedPayment extends TransactionKey, WalletKey {
  nonce: number;
  terms: AttemptTerms;
}

export interface StoredAttempt extends TransactionKey {
  number: number;
  hash: string;
  bytes: string;
  terms: AttemptTerms;
}

/** An attempt that was found by its hash, with its payment. */
export interface FoundAttempt extends PaymentFacts {
  hash: string;
  purpose: SigningIntent["purpose"];
  nonce: number;
  stage: PaymentState["stage"];
}

/** What a block did to a payment. */
export interface Inclusion extends TransactionKey {
  hash: string;
  block: BlockRef;
  /** Whether it has paid exactly what it should. */
  succeeded: boolean;
  fee: bigint;
}

/** A payment in a block. */
export interface IncludedPayment extends TransactionKey, WalletKey {
  /** Of the attempt that is in the block. */
  hash: string;
  block: BlockRef;
  nonce: number;
  purpose: SigningIntent["purpose"];
  succeeded: boolean;
  fee: bigint;
  feeHeld: bigint;
  /** Why it was stopped; null if it was not. */
  stopReason: StopReason | null;
  /** Who has caused that; null if nobody has. */
  stoppedBy: string | null;
}

/** Above a block at most so many; or up to one, without what these wallets have. */
type BlockRange = { above: number; limit: number | null } | { upTo: number; without: readonly string[] };

/**
 * One SQL transaction under the lease of a network. It must not wait for a node or a signer. Its first statement locks the row of the network
 * and throws a `LeaseLostError` if another process has acquired the lease. Rows are locked in the order of these methods: senders, payments,
 * deposits, and then as everywhere, open transactions, accounts and the event log.
 */
export interface ChainUnit
  extends Pick<SettlementUnit, "claimOnRail" | "insertDeposits" | "lockAccounts" | "requestCancel" | "write">,
    UsedNonces {
  /** Senders by their keys, in the order of the keys. */
  lockSenders: (wallets: readonly WalletKey[]) => Promise<LockedSender[]>;
  /** Wallets that are only written to, in the same order: something else, such as the operator, may be writing to them. */
  lockWallets: (wallets: readonly WalletKey[]) => void;
  /** By transaction id. Their open transactions are locked with them: a cancellation that was requested is obeyed. */
  lockPayments: (keys: readonly TransactionKey[]) => Promise<ReadonlyMap<string, PaymentState>>;
  findAttempts: (hashes: readonly string[]) => Promise<FoundAttempt[]>;
  /** Payments that are in a block, before that is recorded. */
  lockIncluded: (keys: readonly TransactionKey[]) => Promise<void>;
  findWallets: (addresses: readonly string[]) => Promise<ReadonlyMap<string, WalletKey>>;
  findDeposits: (keys: readonly DepositKey[]) => Promise<ChainDeposit[]>;
  /** The wallets that are halted because something of theirs could not be settled: it stays as it is until they are resumed. */
  listSettlementFailed: () => Promise<string[]>;
  /** Payments that are in these blocks. */
  listIncluded: (range: BlockRange) => Promise<IncludedPayment[]>;
  /** Deposits that are in these blocks. */
  listSeen: (range: BlockRange) => Promise<ChainDeposit[]>;
  /** The last block up to this one whose payments and deposits, with those of the blocks before it, are not more than this many. */
  limitBlocks: (upTo: number, rowsMax: number, without: readonly string[]) => Promise<number>;
  /** Deposits that were taken out of the chain when the head was at most this, without those of these wallets. */
  listLeft: (upTo: number, without: readonly string[]) => Promise<ChainDeposit[]>;
  /** The ids of those of these wallets that pay or receive something in a block up to this one that is not settled; others can be in it. */
  listUnsettled: (upTo: number, wallets: readonly WalletKey[]) => Promise<ReadonlySet<string>>;
  readBooks: (wallets: readonly WalletKey[]) => Promise<books.WalletBooks[]>;

  /** Those of these signatures that are not of the payment that has the nonce here. */
  listUnknownNonces: (signed: readonly unconfirmed.SignedOfWallet[]) => Promise<unconfirmed.UnknownNonce[]>;
  /** In this epoch of the database, the chain and the signer know no payment of theirs that the database does not know. */
  confirmWallets: (wallets: readonly WalletKey[], epoch: number) => void;
  /**
   * The signer knows payments of these wallets that the database does not know. If nothing has noticed a restore since they were confirmed, no wallet
   * of any network counts as confirmed any more: payments of others may have been made too, and the entry is written. After everything that is locked. Returns whether that is so.
   */
  doubtWallets: (wallets: readonly WalletKey[], entry: Halt["entry"]) => Promise<boolean>;
  /** Gives nonces, and raises the next nonces of their senders. */
  assign: (payments: readonly AssignedPayment[], headNumber: number, at: Date) => void;
  /** Decides the terms of the next attempt. */
  setTerms: (payments: readonly NumberedTerms[], headNumber: number) => void;
  /** The first reason stays, and is in the audit log, unless a client has requested it. This locks the log, so it comes after all other locks. */
  stopPayments: (payments: readonly StoppedPayment[], at: Date) => Promise<void>;
  /** Keeps the last attempt, and looks at it again later. */
  keepTerms: (payments: readonly TransactionKey[], headNumber: number) => void;
  storeAttempts: (attempts: readonly StoredAttempt[], headNumber: number, at: Date) => void;
  includePayments: (inclusions: readonly Inclusion[]) => void;
  /** Their blocks have left the chain. */
  excludePayments: (keys: readonly TransactionKey[], headNumber: number) => void;
  /** They are final. Those with a nonce raise the final nonce of their sender. */
  endPayments: (payments: readonly (TransactionKey & WalletKey & { nonce: number | null })[]) => void;
  putDeposits: (deposits: readonly ChainDeposit[]) => void;
  /** Adds to what was gathered, and returns the sums. At most one for each wallet and asset. */
  gather: (amounts: readonly books.GatheredAmount[]) => Promise<books.GatheredAmount[]>;
  /** What open payments of their own tenant pay to these wallets, of these assets at most. */
  listAwaiting: (
    amounts: readonly books.GatheredAmount[],
    settledNumber: number,
  ) => Promise<books.GatheredAmount[]>;
  /** All nonces below this one are used. */
  adoptNonce: (wallet: WalletKey, finalNonce: number) => void;
  /** Adds payouts that are accepted, and only this unit of work can see. */
  insertLosses: (losses: readonly books.NewLoss[]) => Promise<void>;
  /** It goes on, and is compared again. */
  resumeWallet: (wallet: WalletKey) => void;
  /** What stays gathered: nothing of what is credited. */
  setGathered: (amounts: readonly books.GatheredAmount[]) => void;
  /** These wallets have changed, and are compared with the chain next. */
  touchWallets: (wallets: readonly WalletKey[]) => void;
  /** They count as compared at a block, without those that are not as they were listed: the operator has stated something since, or resumed them. */
  passOver: (wallets: readonly books.ListedWallet[], at: number) => void;
  writeHoldings: (wallets: readonly WalletKey[], holdings: readonly books.Holding[], at: number) => void;

  appendBlocks: (blocks: readonly FollowedBlock[]) => void;
  removeBlocks: (above: number) => void;
  /** Everything up to this block has ended, except for what could not be settled. Earlier blocks are forgotten. */
  settle: (number: number) => void;
  haltNetwork: (halt: Halt) => Promise<void>;
  /** False if there is no such wallet. The first reason stays, unless this one answers the operator's statement or is that settling failed. */
  haltWallet: (wallet: WalletKey, halt: Halt, statedNonce: number | null) => Promise<boolean>;
}

export interface ChainStore {
  leases: NetworkLeases;
  /** Adds a network that was not known before. */
  register: (network: string, genesisHash: string, settled: FollowedBlock) => Promise<void>;
  isRegistered: (network: string) => Promise<boolean>;
  /** Undefined if it is not registered. With all blocks that are not settled: up to tens of thousands. */
  readPosition: (network: string) => Promise<NetworkPosition | undefined>;
  recordHeads: (lease: NetworkLease, heads: SeenHeads) => Promise<void>;
  /** No node has answered since then, until heads are recorded. */
  recordSilence: (lease: NetworkLease, since: Date) => Promise<void>;
  /** Why nothing more is settled, and since when; null if it is. The first moment stays. Nothing if the lease is not held any more. */
  recordStall: (lease: NetworkLease, stall: { since: Date; reason: string } | null) => Promise<void>;
  /** Which of these are addresses of wallets on this network. */
  findOwned: (network: string, addresses: readonly string[]) => Promise<ReadonlySet<string>>;
  findAttempts: (network: string, hashes: readonly string[]) => Promise<ReadonlySet<string>>;
  /**
   * The oldest of each wallet that has room, without those of suspended tenants and disabled clients. Of one that is halted, only what is to be
   * cancelled. What the signer has bound to a nonce is among them in any case.
   */
  listReady: (network: string, page: ReadyPage) => Promise<ListedReady>;
  /** The first ones behind this id of what is assigned, if it is to be stopped too. Of what is signed and stopped, or waits, only cancellations. */
  listUnsigned: (network: string, limit: number, afterId: string | undefined) => Promise<UnsignedPayment[]>;
  /** Payments of wallets that are not halted, in the order of wallets and nonces, after this one. */
  listSent: (
    network: string,
    limit: number,
    after: { walletId: string; nonce: number } | undefined,
  ) => Promise<SentPayment[]>;
  readBytes: (network: string, hashes: readonly string[]) => Promise<ReadonlyMap<string, string>>;
  listToCompare: (network: string, page: books.ComparedPage) => Promise<books.ListedWallet[]>;
  /** Wallets that were not confirmed in this epoch of the database, without those that are halted because the chain or the signer is ahead. */
  listUnconfirmed: (
    network: string,
    page: unconfirmed.UnconfirmedPage,
  ) => Promise<unconfirmed.UnconfirmedList>;
  /**
   * Runs the work in one SQL transaction, and again from its beginning if accounts had to be created first. Throws a `ChainMovedError` if the
   * last followed block is not the expected one: after a restore the lease can be valid again while the memory of its holder is ahead.
   */
  unitOfWork: <T>(position: ChainPosition, work: (unit: ChainUnit) => Promise<T>) => Promise<T>;
}
