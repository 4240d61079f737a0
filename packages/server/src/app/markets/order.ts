import type { CancelReason, OrderState, RejectReason, SelfTrade, Side, TimeInForce } from "@bursar/domain";

/** What was asked for, once it has been checked. It never changes. Prices are ticks, sizes lots, money base units. */
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
  /** Whether that policy left it to the market's owner to judge. */
  needsJudgement: boolean;
  createdAt: Date;
}

/** Why an order has ended before it was filled, and not because its client called it off. */
export type OrderFailure =
  | "INSUFFICIENT_FUNDS"
  | "WALLET_FROZEN"
  | "POLICY_REJECTED"
  | "TOO_MANY_OPEN_ORDERS"
  | Uppercase<RejectReason>
  | Uppercase<Exclude<CancelReason, "requested">>;

/** How far an order is. */
export interface OrderProgress {
  /** The whole size in lots, which an amendment makes smaller; null where an amount is to be spent. */
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
export interface Order extends Omit<AcceptedOrder, "idempotencyKey" | "requestHash" | "needsJudgement"> {
  step: OrderStep | null;
  judgement: OrderJudgement | null;
}

/** How the market's owner has judged it, where that was left to it. */
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
}

export interface EarlierOrder {
  kind: "earlier";
  order: Order;
  requestHash: string;
}

/** How the writer of a batch tells each request what became of it; `earlier` is the order that has used its key before. */
export type OrderOutcome = { kind: "accepted" } | EarlierOrder;

export interface OrderStore {
  /** Writes all that are new in one commit, and finds the earlier ones of those whose key was used. In the order given. */
  acceptOrders: (batch: readonly AcceptedOrder[]) => Promise<OrderOutcome[]>;
  findOrderByKey: (tenantId: string, idempotencyKey: string) => Promise<EarlierOrder | undefined>;
  readOrder: (tenantId: string, id: string) => Promise<Order | undefined>;
  /** What was asked, without what has happened since. */
  readAskedOrders: (tenantId: string, ids: readonly string[]) => Promise<Order[]>;
  /** Newest first; `beforeId` is the last id of the page before. */
  listOrders: (
    tenantId: string,
    filter: OrderFilter,
    limit: number,
    beforeId: string | undefined,
  ) => Promise<Order[]>;
  /** Asks the market's owner to call an order off, or to make it smaller; false where it is not open. */
  requestCancel: (tenantId: string, id: string) => Promise<boolean>;
  requestAmendment: (tenantId: string, id: string, size: number) => Promise<boolean>;
  /** Asks for all orders of a wallet to be called off, if it is frozen; the markets in whose books some are. */
  callOffFrozen: (tenantId: string, walletId: string) => Promise<string[]>;
  /** Whether an order of the wallet is in a book, or on its way into it, and the wallet is frozen. */
  hasFrozenInBooks: (tenantId: string, walletId: string) => Promise<boolean>;
}
