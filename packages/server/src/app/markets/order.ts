import type { CancelReason, OrderState, RejectReason, SelfTrade, Side, TimeInForce } from "@bursar/domain";
import type { TraceContext } from "../../runtime/tracing/trace-context.js";
import type { Listed } from "../requests/listed.js";

/** What was requested, once it is validated. It never changes. Prices are in ticks, sizes in lots, money in base units. */
export interface AcceptedOrder {
  tenantId: string;
  id: string;
  clientId: string;
  idempotencyKey: string;
  requestHash: string;
  market: string;
  walletId: string;
  reference: string | null;
  side: Side;
  type: "limit" | "market";
  timeInForce: TimeInForce | null;
  selfTrade: SelfTrade;
  price: number | null;
  size: number | null;
  quoteSize: bigint | null;
  /** The version of the policy that was in force. */
  policyVersion: number;
  /** Whether that policy looks at sums, so that the order is judged when it is admitted. */
  needsJudgement: boolean;
  createdAt: Date;
  /** The generation of the database that it was checked against; it is not stored in another one. */
  generation?: number;
  /** The span of the request, if it is recorded. */
  trace?: TraceContext | undefined;
}

/** Why an order has ended before it was filled, if its client did not cancel it. */
export type OrderFailure =
  | "INSUFFICIENT_FUNDS"
  | "WALLET_FROZEN"
  | "CLIENT_DISABLED"
  | "POLICY_REJECTED"
  | "TOO_MANY_OPEN_ORDERS"
  | "PRICE_OUT_OF_BAND"
  | Uppercase<RejectReason>
  | Uppercase<Exclude<CancelReason, "requested">>;

/** How much of an order is filled. */
export interface OrderProgress {
  /** The whole size in lots, which an amendment makes smaller; null if an amount is to be spent. */
  size: number | null;
  filled: number;
  quoteFilled: bigint;
  fee: bigint;
}

/** What an order has become by its last change. */
export interface OrderStep extends OrderProgress {
  version: number;
  state: OrderState;
  failure: OrderFailure | null;
  occurredAt: Date;
}

/** An order as it is, or was at some version; nothing has happened to one that was just accepted. */
export interface Order
  extends Omit<AcceptedOrder, "idempotencyKey" | "requestHash" | "needsJudgement" | "trace"> {
  step: OrderStep | null;
  judgement: OrderJudgement | null;
}

/** How it was judged when it was admitted. */
export interface OrderJudgement {
  policyVersion: number;
  rule: string;
  /** Why it was rejected. */
  reason: string | null;
}

export interface OrderFilter {
  market?: string;
  state?: OrderState;
  side?: Side;
  clientId?: string;
  reference?: string;
  walletId?: string;
  createdAfter?: Date;
  createdBefore?: Date;
}

export interface EarlierOrder {
  kind: "earlier";
  order: Order;
  requestHash: string;
}

/** The result of each request of a batch; `earlier` is the order that was accepted under its key before. */
export type OrderOutcome = { kind: "accepted" } | EarlierOrder;

export interface OrderStore {
  /** Writes all that are new in one commit, and finds the earlier ones of those whose key was used. In the order given. */
  acceptOrders: (batch: readonly AcceptedOrder[]) => Promise<OrderOutcome[]>;
  findOrderByKey: (tenantId: string, idempotencyKey: string) => Promise<EarlierOrder | undefined>;
  readOrder: (tenantId: string, id: string) => Promise<Order | undefined>;
  /** Orders as they were requested, without what has happened since. */
  readAskedOrders: (tenantId: string, ids: readonly string[]) => Promise<Order[]>;
  /** Newest first; `beforeId` is the last id of the page before. */
  listOrders: (
    tenantId: string,
    filter: OrderFilter,
    limit: number,
    beforeId: string | undefined,
  ) => Promise<Listed<Order>>;
  /** Request that an order is cancelled, or made smaller. False if it is not open. */
  requestCancel: (tenantId: string, id: string, actorId: string) => Promise<boolean>;
  requestAmendment: (tenantId: string, id: string, size: number, actorId: string) => Promise<boolean>;
  /** Requests that all orders of a wallet are cancelled, if it is frozen. Returns the markets in whose books some are. */
  requestCancelsOfFrozenWallet: (tenantId: string, walletId: string) => Promise<string[]>;
  /** Whether the wallet is frozen and an order of it is in a book, or a command for one is waiting. */
  hasOrdersOfFrozenWallet: (tenantId: string, walletId: string) => Promise<boolean>;
}

/** The progress of an order as an event's row has it. Money is in strings: JSON numbers do not hold it. */
export interface OrderDetails {
  size: number | null;
  filled: number;
  quote_filled: string;
  fee: string;
}

export function writeDetails({ size, filled, quoteFilled, fee }: OrderProgress): OrderDetails {
  return { size, filled, quote_filled: quoteFilled.toString(), fee: fee.toString() };
}

export function readDetails({ size, filled, quote_filled, fee }: OrderDetails): OrderProgress {
  return { size, filled, quoteFilled: BigInt(quote_filled), fee: BigInt(fee) };
}
