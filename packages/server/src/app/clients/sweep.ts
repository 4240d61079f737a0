import type { StoppedWorkStore } from "./stopped-work.js";

/**
 * What is left to do after a client was disabled or enabled, or a tenant suspended or resumed. It can concern many orders and
 * transactions, so it is recorded in the same SQL transaction and carried out afterwards in batches, by any process, also after a crash.
 * Doing a part of it twice changes nothing.
 */
export interface Sweep {
  tenantId: string;
  /** `allClients` stands for every client of the tenant. */
  clientId: string;
  kind: SweepKind;
  /** Who disabled or enabled it: the actor of what the sweep cancels. */
  requestedBy: string;
  /** What was requested later is left alone: a client can be enabled again before the sweep ends. */
  requestedAt: Date;
}

/** `release_transactions`: what waited because its client was disabled goes on. */
export type SweepKind = "cancel_orders" | "cancel_transactions" | "release_transactions";

/** Orders do not wait for transactions: an order that stays in a book can be filled meanwhile. */
export type SweepGroup = "orders" | "transactions";

export const allClients = "00000000-0000-0000-0000-000000000000";

export interface SweepStore extends StoppedWorkStore {
  /** Those of a group, the tenants in turn; or those of one client only. */
  listSweeps: (
    group: SweepGroup,
    limit: number,
    of?: Pick<Sweep, "tenantId" | "clientId">,
  ) => Promise<Sweep[]>;
  /** Requests that open orders are cancelled. Returns the market of each. */
  requestOrderCancels: (sweep: Sweep, limit: number) => Promise<string[]>;
  /** Whether an order that the sweep cancels is still open. */
  hasOpenOrders: (sweep: Pick<Sweep, "tenantId" | "clientId" | "requestedAt">) => Promise<boolean>;
  /** Reads a bounded number of the tenant's open transactions, and finds at most `limit` that the sweep cancels. */
  listOpen: (sweep: Sweep, after: string | undefined, limit: number) => Promise<OpenPage>;
  /** Reads a bounded number of the tenant's transactions that the engine has set aside, and lets it look at most `limit` of them. */
  releaseHeld: (
    sweep: Sweep,
    after: string | undefined,
    limit: number,
  ) => Promise<{ releasedCount: number; next: string | undefined }>;
  finishSweep: (sweep: Sweep) => Promise<void>;
}

export interface OpenPage {
  /** Transactions that no rail has begun to work on. */
  unsettled: readonly string[];
  /** Those that a rail can be asked to cancel. */
  onRail: readonly string[];
  /** Where the next page begins; undefined if there is none. */
  next: string | undefined;
}
