import type {
  AccountKey,
  Balance,
  OpenOrder,
  OrderState,
  SelfTrade,
  Side,
  TimeInForce,
  UsageByWindow,
} from "@bursar/domain";
import type { Lease, LeaseStore } from "../../runtime/lease.js";
import type { Balances } from "../ledger/ledger-unit.js";
import type { Counted, TenantWindow } from "../policy/usage.js";
import type { KnownWallet } from "../wallets/wallet.js";
import type { OrderFailure, OrderJudgement, OrderProgress } from "./order.js";

/** The right to change a market. */
export interface MarketLease extends Lease {
  market: string;
}

/** Who owns a market, by its name. */
export type MarketLeases = LeaseStore<MarketLease, string>;

/** An order with something for the owner to do: it is new, or its client wants it called off or made smaller. */
export interface ClaimedOrder {
  tenantId: string;
  id: string;
  clientId: string;
  wallet: KnownWallet & { isFrozen: boolean };
  side: Side;
  type: "limit" | "market";
  timeInForce: TimeInForce | null;
  selfTrade: SelfTrade;
  price: number | null;
  size: number | null;
  quoteSize: bigint | null;
  createdAt: Date;
  /** The sequence of the command that placed it; null where it is new. */
  number: number | null;
  /** Whether policy looks at sums before it goes ahead. */
  needsJudgement: boolean;
  cancelRequested: boolean;
  amendSize: number | null;
}

/**
 * A command as it was taken down. The sequence says when it is its turn; the number of its order is the sequence of the command that
 * placed it, and by it the book finds the order.
 */
export type MarketCommand = { sequence: number; tenantId: string; orderId: string; orderNumber: number } & (
  | { kind: "place"; order: PlacedOrder }
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

/** What becomes of claimed orders: commands in their order, and orders that end before they reach the book. */
export interface Admission {
  occurredAt: Date;
  commands: readonly NewCommand[];
  /** What each new order holds, by its id. */
  holds: ReadonlyMap<string, bigint>;
  rejected: readonly { order: ClaimedOrder; failure: OrderFailure }[];
  judged: readonly { order: ClaimedOrder; judgement: OrderJudgement }[];
  /** The orders that were let pass. */
  counted: readonly Counted[];
}

/** How claimed orders are to be admitted: what must be locked and known, and what becomes of them once it is. */
export interface AdmissionPlan {
  accounts: readonly AccountKey[];
  /** The end of the windows. */
  now: Date;
  windows: readonly TenantWindow[];
  decide: (accounts: Balances, usage: UsageByWindow) => Admission;
}

/** An open order as the database has it, with what is set aside for it. */
export interface OpenOrderRow extends OrderProgress {
  tenantId: string;
  id: string;
  walletId: string;
  walletIsFrozen: boolean;
  side: Side;
  price: number | null;
  state: OrderState;
  version: number;
  held: bigint;
}

/** A change of an order by one command: one event, and the last one of a batch is what the order is now. */
export interface OrderChange extends OpenOrderRow {
  previousState: OrderState;
  failure: OrderFailure | null;
}

export interface NewTrade {
  id: string;
  price: number;
  size: number;
  takerSide: Side;
  maker: { tenantId: string; orderId: string; fee: bigint };
  taker: { tenantId: string; orderId: string; fee: bigint };
}

/** A movement of money from one account of a tenant to another. */
export interface Posting {
  tenantId: string;
  tradeId: string;
  line: number;
  debitAccountId: string;
  creditAccountId: string;
  asset: string;
  amount: bigint;
}

/** What a level is now: side, price, size and how many orders; a size of 0 is gone. */
export type LevelChangeRow = readonly [side: Side, price: number, size: number, orderCount: number];

/** How the levels of a book have changed from one sequence to another. */
export interface MarketDelta {
  market: string;
  sequence: number;
  previousSequence: number;
  changes: readonly LevelChangeRow[];
  occurredAt: Date;
}

/** What a batch of commands has done, to be written as a whole. */
export interface BatchResult {
  changes: readonly OrderChange[];
  trades: readonly NewTrade[];
  postings: readonly Posting[];
  /** How much each account's balances change, by the account's name. */
  balances: ReadonlyMap<string, Balance>;
}

export interface AppliedBatch {
  /** The last command of it. */
  sequence: number;
  levelChanges: readonly LevelChangeRow[];
  occurredAt: Date;
  /** The orders that the commands have touched. */
  touched: readonly { tenantId: string; id: string }[];
  /** What is to be written, once those orders are read and locked. */
  settle: (orders: readonly OpenOrderRow[]) => BatchResult;
}

/** A market as an owner finds it: the orders that rest in it by priority, and commands that were not carried out yet. */
export interface LoadedMarket {
  orders: readonly OpenOrder[];
  waiting: readonly MarketCommand[];
  /** Nothing that happens now is before this. */
  notBefore: Date;
}

/** What the owner of a market does to the database. Whatever writes does so under the lease, or throws a `LeaseLostError`. */
export interface MarketStore {
  /** Undefined where somebody else has it. */
  /** The lease is valid for the duration from its end on, and for as long as the book takes to be made. */
  load: (lease: MarketLease, durationMs: number) => Promise<LoadedMarket>;
  hasWork: (market: string) => Promise<boolean>;
  /** Claims orders with something to do, holds funds for the new ones and takes their commands down in order. */
  admit: (
    lease: MarketLease,
    limit: number,
    plan: (claimed: readonly ClaimedOrder[]) => Promise<AdmissionPlan>,
  ) => Promise<MarketCommand[]>;
  /** Writes what commands have done. Undefined where no level has changed. */
  apply: (lease: MarketLease, batch: AppliedBatch) => Promise<MarketDelta | undefined>;
}
