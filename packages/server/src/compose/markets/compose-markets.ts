import { randomUUID } from "node:crypto";
import { formatPrice, type MarketRegistry } from "@bursar/domain";
import { showId } from "@bursar/protocol";
import type { AuditRecorder } from "../../app/audit/audit-recorder.js";
import { recordCreations } from "../../app/audit/record-creations.js";
import { createEpochNames } from "../../app/events/epoch.js";
import { createHaltedMarkets } from "../../app/markets/halted-markets.js";
import { createMarketAudience } from "../../app/markets/market-audience.js";
import type { MarketUseCases } from "../../app/markets/market-use-cases.js";
import type { FollowedMarket } from "../../app/markets/market-view.js";
import type { AcceptedOrder, OrderOutcome, OrderStore } from "../../app/markets/order.js";
import { type CancelOrdersOfFrozenWallet, createOrderChanges } from "../../app/markets/order-changes.js";
import { createOrderPlacer } from "../../app/markets/place-order.js";
import { presentBook, presentDelta } from "../../app/markets/present-book.js";
import { createOrderPresenter, type PresentOrder } from "../../app/markets/present-order.js";
import { createOrderbookSnapshots } from "../../app/markets/show-orderbook.js";
import { presentTrade, type TradeStore } from "../../app/markets/trade.js";
import type { ActivePolicies } from "../../app/policy/policy.js";
import type { WalletDirectory } from "../../app/wallets/wallet-directory.js";
import { sandboxMarkets } from "../../config/market-list.js";
import { ConfigError } from "../../config/setting.js";
import { createMarketMaker, type MarketMaker } from "../../markets/market-maker.js";
import { createSeededRandom } from "../../markets/quotes.js";
import { createGroupCommit } from "../../runtime/concurrency/group-commit.js";
import type { LongWait } from "../../runtime/concurrency/long-wait.js";
import { nodeTimers } from "../../runtime/loops/timers.js";
import { isDatabaseUnavailable } from "../../store/core/database.js";
import { createEventLog } from "../../store/events/events.js";
import { findHaltedMarkets } from "../../store/markets/halt-market.js";
import { createMarketLeases } from "../../store/markets/market-leases.js";
import {
  createLevelStore,
  type MarketConflict,
  prepareMarkets,
  removeOldDeltas,
} from "../../store/markets/market-levels.js";
import { createMarketUnits } from "../../store/markets/market-unit.js";
import { createOrderStore } from "../../store/markets/orders.js";
import { createTradeStore } from "../../store/markets/trades.js";
import { createOrderTracing } from "../../store/tracing/trace-orders.js";
import type { ComposeOptions } from "../compose.js";
import { createHoldOrders } from "../create-stops.js";
import { runMarket } from "./run-market.js";

/** Markets: orders, the processes that match them, and the public books. */
export interface MarketParts {
  useCases: MarketUseCases;
  orders: OrderStore;
  presentOrder: PresentOrder;
  cancelOrdersOfFrozenWallet: CancelOrdersOfFrozenWallet;
  /** The markets that the stream follows. */
  followed: readonly FollowedMarket[];
  trades: TradeStore;
  /** The names of halted markets. */
  findHalted: () => Promise<readonly string[]>;
  /** Called once, after the migrations. */
  prepare: () => Promise<void>;
  start: () => void;
  /** Runs a market maker for a client, in the markets that the sandbox has by default, until the service stops. */
  /** Names this process in the leases of markets. */
  holder: string;
  startMarketMaker: (client: { tenantId: string; clientId: string }) => void;
  keepHouse: () => Promise<void>;
  stop: () => Promise<void>;
}

const marketMakerSeed = 20_260;
/** How long deltas are kept; a copy of a book that is further behind reads the whole book again. */
const deltasKeptMs = 3_600_000;

interface MarketNeeds {
  longWait: LongWait;
  markets: MarketRegistry;
  wallets: WalletDirectory;
  policies: ActivePolicies;
  audit: AuditRecorder;
}

export function composeMarkets(
  options: ComposeOptions,
  { longWait, markets, wallets, policies, audit }: MarketNeeds,
): MarketParts {
  const { database, wakeUps, log, tracer, newUuid, now } = options;
  const events = createEventLog(wakeUps);
  const orders = createOrderStore(database);
  const trades = createTradeStore(database);
  const shared = {
    levels: createLevelStore(database),
    units: createMarketUnits(
      database,
      events,
      tracer && createOrderTracing(tracer, (id) => showId("ord", id)),
    ),
    leases: createMarketLeases(database),
    // Random, because the database's clock is not known yet.
    holder: randomUUID(),
  };
  const haltedMarkets = createHaltedMarkets({
    readHalted: () => findHaltedMarkets(database),
    monotonicMs: () => performance.now(),
  });
  const running = markets.list.map((market) => runMarket(options, market, policies, shared));
  const views = new Map(running.map(({ market, view }) => [market.name, view]));
  database.identity.subscribe(() => {
    for (const { view, engine } of running) {
      engine.reset();
      view.reset();
    }
  });
  const wakeEngine = (market: string) => wakeUps.publish("orders", [market]);
  const changesDeps = {
    markets,
    store: orders,
    holdOrders: createHoldOrders(options),
    onRequested: wakeEngine,
    monotonicMs: () => performance.now(),
    timers: nodeTimers,
    longWait,
  };
  const changes = createOrderChanges({ ...changesDeps, audit });
  const presentOrder = createOrderPresenter(markets);
  const makers: MarketMaker[] = [];
  const audience = createMarketAudience(() => performance.now());
  audience.onReturn(() => {
    for (const maker of makers) maker.wake();
  });
  // The market maker is a part of the sandbox, and would fill its audit log.
  const unrecorded = createOrderChanges({ ...changesDeps, audit: { recordAct: () => undefined } });

  const placeOrder = createOrderPlacer({
    markets,
    wallets,
    policies,
    queue: createGroupCommit<AcceptedOrder, OrderOutcome>({
      write: orders.acceptOrders,
      isUnavailable: isDatabaseUnavailable,
      tenantOf: ({ tenantId }) => tenantId,
      onWritten: (batch, outcomes) => {
        const accepted = batch.filter((_, index) => outcomes[index]?.kind === "accepted");
        for (const market of new Set(accepted.map((order) => order.market))) wakeEngine(market);
      },
      monotonicMs: () => performance.now(),
      timers: nodeTimers,
    }),
    store: orders,
    pricesOf: (market) => views.get(market)?.prices(),
    newUuid,
    generation: database.identity.generation,
  });
  const showOrderbook = createOrderbookSnapshots({
    markets,
    views,
    epochSuffix: createEpochNames(database.identity).tagSuffix,
    identity: database.identity,
    monotonicMs: () => performance.now(),
    timers: nodeTimers,
  });
  const useCases: MarketUseCases = {
    placeOrder: recordCreations(
      audit,
      "order.place",
      (...request) => {
        audience.noteRequest();
        return placeOrder(...request);
      },
      ({ order }) => showId("ord", order.id),
    ),
    readOrder: async (tenantId, id) =>
      (await orders.readOrder(tenantId, id)) ?? { refused: "ORDER_NOT_FOUND" },
    listOrders: orders.listOrders,
    cancelOrder: changes.cancelOrder,
    amendOrder: changes.amendOrder,
    presentOrder,
    listMarkets: async () => {
      audience.noteRequest();
      const halted = await haltedMarkets.findOrKnown();
      return markets.list.map((market) => {
        const range = views.get(market.name)?.prices()?.range;
        const show = (price: number | undefined) =>
          price === undefined ? null : formatPrice(price, market.steps);
        const state = halted.includes(market.name) ? "halted" : "trading";
        return { market, state, priceMin: show(range?.min), priceMax: show(range?.max) };
      });
    },
    listTrades: async (name, limit, before) => {
      const market = markets.find(name);
      if (market === undefined) return { refused: "MARKET_NOT_FOUND" };
      audience.noteRequest();
      return { market, trades: await trades.listTrades(name, limit, before) };
    },
    showOrderbook: (...request) => {
      audience.noteRequest();
      return showOrderbook(...request);
    },
  };

  return {
    useCases,
    holder: shared.holder,
    orders,
    presentOrder,
    cancelOrdersOfFrozenWallet: changes.cancelOrdersOfFrozenWallet,
    followed: running.map(({ market, view }) => ({
      name: market.name,
      view,
      presentBook: (levels, depth) => presentBook(market, levels, depth),
      presentDelta: (delta, levels) => presentDelta(market, delta, levels),
      presentTrade: (trade) => presentTrade(market, trade),
      follow: audience.follow,
    })),
    trades,
    findHalted: haltedMarkets.find,
    prepare: async () => {
      const conflict = await prepareMarkets(database, markets.list);
      if (conflict !== undefined) throw new ConfigError(explain(conflict));
    },
    start: () => {
      for (const { view, engine } of running) {
        view.start();
        engine.start();
      }
    },
    startMarketMaker: (client) => {
      const names = new Set(sandboxMarkets.map(({ base, quote }) => `${base}-${quote}`));
      for (const market of markets.list) {
        if (!names.has(market.name)) continue;
        const maker = createMarketMaker({
          market,
          principal: { ...client, tokenId: "", scopes: new Set() },
          useCases: { placeOrder, cancelOrder: unrecorded.cancelOrder, listOrders: orders.listOrders },
          hasAudience: audience.isPresent,
          onError: (error) => log.warn({ err: error, market: market.name }, "the market maker failed"),
          newUuid,
          random: createSeededRandom(marketMakerSeed),
          timers: nodeTimers,
        });
        makers.push(maker);
        maker.start();
      }
    },
    keepHouse: () => removeOldDeltas(database, new Date(now() - deltasKeptMs)),
    stop: async () => {
      await Promise.all(makers.map((maker) => maker.stop()));
      await Promise.all(running.flatMap(({ view, engine }) => [engine.stop(), view.stop()]));
    },
  };
}

function explain(conflict: MarketConflict): string {
  const { market } = conflict;
  return conflict.kind === "missing"
    ? `markets: ${market} has orders but is not configured. Add it to the configuration file again.`
    : `markets: ${market} has orders with tick_size ${conflict.tickSize} and lot_size ${conflict.lotSize} but is configured with others. Restore these values.`;
}
