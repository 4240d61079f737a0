import type { TradedMarket } from "@bursar/domain";
import type { MarketDelta, MarketLeases, MarketStore } from "../app/markets/market-store.js";
import type { ActivePolicies } from "../app/policy/policy.js";
import type { Timers } from "../runtime/loops/timers.js";

export interface MatchingEngineDeps {
  market: TradedMarket;
  store: MarketStore;
  leases: MarketLeases;
  policies: Pick<ActivePolicies, "within">;
  /** Names this process among those that could hold the lease. */
  holder: string;
  leaseMs: number;
  /** How many orders a tenant may have open here. */
  openOrdersMax: number;
  /** Called after the commit of each change of a level. */
  onDelta: (delta: MarketDelta) => void;
  onError: (error: unknown) => void;
  /** Called with the id of an order that could not be admitted. */
  onOrderFailed: (orderId: string, error: unknown) => void;
  /** Whether an error means that the database is unavailable or timed out: then no order is at fault. */
  isUnavailable: (error: unknown) => boolean;
  /** Called when it halts the market. */
  onHalted: (reason: string) => void;
  /** Called when another process turns out to hold the lease. */
  onLost: () => void;
  newUuid: () => string;
  now: () => number;
  monotonicMs: () => number;
  /** Whether other processes can wake this one at the moment. */
  isNotified: () => boolean;
  timers: Pick<Timers, "after">;
}
