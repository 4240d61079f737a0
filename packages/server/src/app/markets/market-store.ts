import type {
  OpenOrder,
  OrderState,
  PriceBand,
  SelfTrade,
  Side,
  TimeInForce,
  UsageByWindow,
} from "@bursar/domain";
import type { Lease, LeaseStore } from "../../runtime/loops/lease.js";
import type { AuditDraft } from "../audit/audit-entry.js";
import type { Balances, LedgerEntry, LedgerUnit } from "../ledger/ledger-unit.js";
import type { ActivePolicyReads } from "../policy/policy.js";
import type { Counted, TenantWindow } from "../policy/usage.js";
import type { KnownWallet } from "../wallets/wallet.js";
import type { OrderFailure, OrderJudgement, OrderProgress } from "./order.js";

/** The right to change a market. */
export interface MarketLease extends Lease {
  market: string;
}

/** Leases on markets, by the names of the markets. */
export type MarketLeases = LeaseStore<MarketLease, string>;

/** An order with something to do: it is new, or its client wants it cancelled or made smaller. */
export interface ClaimedOrder {
  tenantId: string;
  id: string;
  clientId: string;
  wallet: Omit<KnownWallet, "address"> & { isFrozen: boolean };
  /** Whether the client that placed it is disabled, or its tenant suspended. */
  isHeld: boolean;
  side: Side;
  type: "limit" | "market";
  timeInForce: TimeInForce | null;
  selfTrade: SelfTrade;
  price: number | null;
  size: number | null;
  quoteSize: bigint | null;
  createdAt: Date;
  /** The sequence of the command that placed it; null if it is new. */
  number: number | null;
  /** What was accepted, in one string that was authenticated. */
  content: string;
  /** Whether policy looks at sums before it is admitted. */
  needsJudgement: boolean;
  cancelRequested: boolean;
  amendSize: number | null;
  /** Who requested the cancellation or the amendment. */
  changeRequestedBy: string | null;
}

/**
 * A command of a market's log. The sequence is its place there; the number of its order is the sequence of the command that placed the
 * order, and by it the book finds the order.
 */
export type MarketCommand = {
  sequence: number;
  tenantId: string;
  orderId: string;
  /** 0 if the book has no such order: then the command does nothing. */
  orderNumber: number;
  /** Who requested that the order is cancelled or amended; null for one that is placed. */
  actorId: string | null;
} & (
  | {
      kind: "place";
      order: PlacedOrder;
      content: string;
      /** What is held for it. */
      held: bigint;
      /** Of a market order: it trades no further. */
      priceLimit: number | null;
    }
  | { kind: "cancel" }
  | { kind: "amend"; size: number }
);

export type PlacedOrder = Pick<
  ClaimedOrder,
  "side" | "type" | "timeInForce" | "selfTrade" | "price" | "size" | "quoteSize"
>;

export type NewCommand = MarketCommand extends infer C
  ? C extends unknown
    ? Omit<C, "sequence" | "orderNumber">
    : never
  : never;

/** What was decided about claimed orders: commands in their order, and orders that are rejected before they reach the book. */
export interface Admission {
  occurredAt: Date;
  commands: readonly NewCommand[];
  /** What each new order holds, by its id. */
  holds: ReadonlyMap<string, bigint>;
  rejected: readonly { order: ClaimedOrder; failure: OrderFailure }[];
  judged: readonly { order: ClaimedOrder; judgement: OrderJudgement }[];
  /** The new orders that were admitted, as they count towards limits. */
  counted: readonly Counted[];
}

/** An open order as the database has it, with what is held for it. */
export interface OpenOrderRow extends OrderProgress {
  tenantId: string;
  id: string;
  walletId: string;
  walletIsFrozen: boolean;
  /** Its client, tenant or wallet is stopped, and nothing else cancels the order: it must not trade. */
  isStopped: boolean;
  side: Side;
  price: number | null;
  state: OrderState;
  version: number;
  held: bigint;
}

/** A change of an order by one command: one event. The last one of a batch is what the order is now. */
export interface OrderChange extends OpenOrderRow {
  previousState: OrderState;
  failure: OrderFailure | null;
  /** Who requested the change; null if the market matched or cancelled it. */
  actorId: string | null;
}

export interface NewTrade {
  id: string;
  price: number;
  size: number;
  takerSide: Side;
  maker: { tenantId: string; orderId: string; fee: bigint };
  taker: { tenantId: string; orderId: string; fee: bigint };
}

/** What a level is now: side, price, size and how many orders; a size of 0 removes it. */
export type LevelChangeRow = readonly [side: Side, price: number, size: number, orderCount: number];

/** How the levels of a book have changed from one sequence to another. */
export interface MarketDelta {
  market: string;
  sequence: number;
  previousSequence: number;
  changes: readonly LevelChangeRow[];
  /** The centre of the price band after it; null if an earlier version of the service has written it. */
  centre: number | null;
  occurredAt: Date;
}

/** What a batch of commands has done, to be written as a whole. */
export interface MatchedBatch {
  /** The sequence of its last command. */
  sequence: number;
  levelChanges: readonly LevelChangeRow[];
  /** The price band after its trades. */
  band: PriceBand;
  occurredAt: Date;
  changes: readonly OrderChange[];
  trades: readonly NewTrade[];
  entries: readonly LedgerEntry[];
}

/** A market as the process that acquires its lease finds it. */
export interface LoadedMarket {
  /** The orders that rest in it, by priority. */
  orders: readonly OpenOrder[];
  /** Commands of the log that the book has not executed yet. */
  waiting: readonly MarketCommand[];
  /** The ids of those of both whose client, tenant or wallet is stopped; none if it was not asked for them. */
  stopped: ReadonlySet<string>;
  /** The price band after the executed commands; null before the first trade. */
  band: PriceBand | null;
  /** Nothing that happens now is before this. */
  notBefore: Date;
  position: CommandPosition;
}

/** How far a market's log of commands is: which was appended last, and which was executed last. */
export interface CommandPosition {
  admittedSequence: number;
  appliedSequence: number;
}

/** Why a market halts. */
export interface MarketHalt {
  /** A sentence for the operator. */
  reason: string;
  at: Date;
  /** What the audit log says. */
  entry: AuditDraft;
}

/** An order that a batch of commands touches. */
export interface LockedKey {
  tenantId: string;
  id: string;
  /** If a command of the batch places it. */
  placed?: PlacedKey;
}

export interface PlacedKey {
  number: number;
  content: string;
  held: bigint;
}

/** The row of an order is not as the service has left it. Nothing was written, and a market that is loaded again leaves the order out. */
export class TamperedOrderError extends Error {}

/** A client, a tenant or a wallet is stopped whose order would trade. Nothing was written, and the market is loaded again with what is stopped. */
export class StoppedOrderError extends Error {}

/** The market is not where the book in memory is: the database has gone back to an earlier state. Nothing was written. */
export class MarketMovedError extends Error {}

/**
 * One SQL transaction under the lease of a market: claim, lock, decide, write, in this order, which is the order of locks everywhere.
 * It must not wait for the network. Its first statement throws a `LeaseLostError` if another process has acquired the lease, and its
 * commit holds off any other process that would.
 */
/** It also reads policies: a read through the pool would wait for a second connection while this one holds locks. */
export interface MarketUnit extends LedgerUnit, ActivePolicyReads {
  /**
   * Orders with something to do, the same number of each tenant, oldest first. Their wallets are locked against a freeze: one that was
   * answered is obeyed.
   */
  claimOrders: (claim: OrderClaim) => Promise<ClaimedOrder[]>;
  /** Sums of the past. Locks the tenants, so that of two processes that judge, the second sees what the first has allowed. */
  lockUsage: (windows: readonly TenantWindow[], now: Date) => Promise<UsageByWindow>;
  /** Writes what was decided about claimed orders. Returns the commands with their places in the log. */
  writeAdmission: (
    claimed: readonly ClaimedOrder[],
    admission: Admission,
    balances: Balances,
  ) => Promise<MarketCommand[]>;
  /** Locks open orders, and reads them. Throws a `TamperedOrderError` if one is not as the service has left it. */
  lockOrders: (keys: readonly LockedKey[]) => Promise<OpenOrderRow[]>;
  /** Writes what commands have done. Returns undefined if no level has changed. */
  writeBatch: (batch: MatchedBatch, balances: Balances) => Promise<MarketDelta | undefined>;
}

export interface OrderClaim {
  limit: number;
  /** Begins after this tenant, if the last claim had more tenants than it could serve. */
  afterTenantId: string | undefined;
  /** Whether new orders come before changes of older ones, if there is not room for both. */
  areNewFirst: boolean;
  now: Date;
}

export interface MarketStore {
  /**
   * Reads a market under its lease, which is valid for the duration from the end on, and for as long as restoring the book takes. Undefined if
   * the market is halted. Which orders are stopped is three more looks for each, so it is asked only if one of them would have traded.
   */
  load: (lease: MarketLease, durationMs: number, withStops: boolean) => Promise<LoadedMarket | undefined>;
  hasWork: (market: string, now: Date) => Promise<boolean>;
  /**
   * Runs the work in one SQL transaction, and again from its beginning if accounts had to be created first. Throws a `MarketMovedError` if
   * the market is not at the expected position: after a restore the lease can be valid again while the book in memory is ahead.
   */
  unitOfWork: <T>(
    lease: MarketLease,
    work: (unit: MarketUnit) => Promise<T>,
    expected?: CommandPosition,
  ) => Promise<T>;
  /** Records on an order that it could not be admitted; it is claimed again after a delay that grows with every attempt. */
  recordFailure: (order: { tenantId: string; id: string }, error: unknown, now: Date) => Promise<void>;
  /**
   * Sets orders aside that a command could not be executed for, so that the market goes on without them: those whose tenant or account is
   * not as it must be, or the only one that was touched. Returns how many.
   */
  setAsideFaulty: (
    lease: MarketLease,
    orders: readonly { tenantId: string; id: string }[],
    error: unknown,
  ) => Promise<number>;
  /** Halts a market: it is not loaded before an operator resumes it. */
  halt: (lease: MarketLease, halt: MarketHalt) => Promise<void>;
}
