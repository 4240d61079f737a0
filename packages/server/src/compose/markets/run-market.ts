import type { TradedMarket } from "@bursar/domain";
import { showId } from "@bursar/protocol";
import type { MarketLeases } from "../../app/markets/market-store.js";
import { createMarketView, type LevelStore } from "../../app/markets/market-view.js";
import type { ActivePolicies } from "../../app/policy/policy.js";
import { createMatchingEngine } from "../../markets/matching-engine.js";
import { nodeTimers } from "../../runtime/loops/timers.js";
import { isDatabaseUnavailable } from "../../store/core/database.js";
import { createMarketHalts } from "../../store/markets/halt-market.js";
import { createMarketLoader } from "../../store/markets/load-market.js";
import type { createMarketUnits } from "../../store/markets/market-unit.js";
import type { ComposeOptions } from "../compose.js";

/** How long a market stands still after the process that runs it has crashed. */
const leaseMs = 4000;

/** What joins the statements of all markets of a process. */
interface SharedByMarkets {
  levels: LevelStore;
  units: ReturnType<typeof createMarketUnits>;
  leases: MarketLeases;
  holder: string;
}

/** The parts of one market in this process: its view of the book, and its owner, which waits while another process has the lease. */
export function runMarket(
  { database, settings, wakeUps, log, newUuid, now }: ComposeOptions,
  market: TradedMarket,
  policies: ActivePolicies,
  shared: SharedByMarkets,
) {
  const { name } = market;
  const view = createMarketView({
    market,
    store: shared.levels,
    onError: (error) => log.warn({ err: error, market: name }, "the book could not be updated"),
    isNotified: wakeUps.isNotified,
    monotonicMs: () => performance.now(),
    timers: nodeTimers,
  });
  const engine = createMatchingEngine({
    market,
    store: {
      ...createMarketLoader(database),
      ...shared.units,
      ...createMarketHalts(database),
    },
    leases: shared.leases,
    policies,
    holder: shared.holder,
    leaseMs,
    openOrdersMax: settings["limits.open_orders"],
    onDelta: (delta) => {
      view.advance(delta);
      wakeUps.publish("levels", [name]);
    },
    onError: (error) => log.error({ err: error, market: name }, "the market failed and will retry"),
    onOrderFailed: (orderId, error) =>
      log.error(
        { err: error, market: name, order: showId("ord", orderId) },
        "an order could not be admitted and will be retried",
      ),
    onHalted: (reason) =>
      log.error(
        { market: name, reason },
        "the market is halted: find the cause, and end the halt with `bursar market resume`",
      ),
    isUnavailable: isDatabaseUnavailable,
    onLost: () => log.warn({ market: name }, "another process has taken over the market"),
    isNotified: wakeUps.isNotified,
    newUuid,
    now,
    monotonicMs: () => performance.now(),
    timers: nodeTimers,
  });
  const isNamed = (names: readonly string[] | "any") => names === "any" || names.includes(name);
  wakeUps.subscribe("orders", (names) => {
    if (isNamed(names)) engine.wake();
  });
  wakeUps.subscribe("levels", (names) => {
    // The engine updates the view of its own process directly.
    if (isNamed(names) && !engine.isRunning()) view.wake();
  });
  return { market, view, engine };
}
