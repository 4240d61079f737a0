import { randomUUID } from "node:crypto";
import type { AssetRegistry, TradedMarket } from "@bursar/domain";
import { type CallOffOrders, createOrdersCaller } from "../app/markets/call-off-orders.js";
import { createOrderAmender, createOrderCanceller } from "../app/markets/change-order.js";
import type { FollowedMarket } from "../app/markets/followed-market.js";
import type { MarketUseCases } from "../app/markets/market-use-cases.js";
import { createMarketView } from "../app/markets/market-view.js";
import type { AcceptedOrder, OrderOutcome, OrderStore } from "../app/markets/order.js";
import { createOrderPlacer } from "../app/markets/place-order.js";
import { presentBook, presentDelta } from "../app/markets/present-book.js";
import { createOrderPresenter, type PresentOrder } from "../app/markets/present-order.js";
import { presentTrade } from "../app/markets/present-trade.js";
import { createOrderbookShower } from "../app/markets/show-orderbook.js";
import type { TradeStore } from "../app/markets/trade.js";
import type { ActivePolicies } from "../app/policy/policy.js";
import { createWalletDirectory } from "../app/wallets/wallet-directory.js";
import { readMarkets } from "../config/market-list.js";
import { ConfigError } from "../config/setting.js";
import { createSeededRandom } from "../markets/ladder.js";
import { createMarketMaker, type MarketMaker } from "../markets/market-maker.js";
import { createMarketOwner } from "../markets/market-owner.js";
import { createGroupCommit } from "../runtime/group-commit.js";
import { nodeTimers } from "../runtime/timers.js";
import { isDatabaseUnavailable } from "../store/core/database.js";
import { createEventLog } from "../store/events/events.js";
import { createOrderAdmission } from "../store/markets/admit-orders.js";
import { createBatchApplication } from "../store/markets/apply-batch.js";
import { createMarketLoader } from "../store/markets/load-market.js";
import { createMarketLeases } from "../store/markets/market-leases.js";
import {
  createLevelStore,
  type MarketConflict,
  prepareMarkets,
  removeOldDeltas,
} from "../store/markets/market-levels.js";
import { createOrderStore } from "../store/markets/orders.js";
import { createTradeStore } from "../store/markets/trades.js";
import { createWalletStore } from "../store/wallets/wallets.js";
import type { ComposeOptions } from "./compose.js";

/** Markets: orders, the owners that match them, and the books that everybody sees. */
export interface MarketParts {
  useCases: MarketUseCases;
  orders: OrderStore;
  presentOrder: PresentOrder;
  callOffOrders: CallOffOrders;
  /** For those who follow books and trades. */
  followed: readonly FollowedMarket[];
  trades: TradeStore;
  /** To be called once, when the schema is there. */
  prepare: () => Promise<void>;
  start: () => void;
  /** Lets a client keep orders in the books that have a usual price, until the service stops. */
  startMarketMaker: (client: { tenantId: string; clientId: string }) => void;
  keepHouse: () => Promise<void>;
  stop: () => Promise<void>;
}

/** How long a market stands still when the process that owns it is gone without a word. */
const leaseMs = 4000;
/** What the market maker of a sandbox takes for the price, in the markets of the default. */
const usualPrices: Readonly<Record<string, string>> = { "ETH-USD": "3000", "USDC-USD": "1" };
const marketMakerSeed = 20_260;
/** How far behind a copy of a book may be before it is read anew. */
const deltasKeptMs = 3_600_000;

export function composeMarkets(
  options: ComposeOptions,
  assets: AssetRegistry,
  policies: ActivePolicies,
): MarketParts {
  const { database, settings, wakeUps, log, newUuid, now } = options;
  const markets = readMarkets(settings.markets, assets);
  const events = createEventLog(wakeUps);
  const orders = createOrderStore(database);
  const trades = createTradeStore(database);
  const running = markets.list.map((market) => runMarket(options, market, policies));
  const views = new Map(running.map(({ market, view }) => [market.name, view]));
  const wakeOwner = (market: string) => wakeUps.announce("orders", [market]);
  const changing = { markets, store: orders, onRequested: wakeOwner };
  const presentOrder = createOrderPresenter(markets);
  const makers: MarketMaker[] = [];

  const useCases: MarketUseCases = {
    placeOrder: createOrderPlacer({
      markets,
      wallets: createWalletDirectory(createWalletStore(database, events)),
      policies,
      queue: createGroupCommit<AcceptedOrder, OrderOutcome>({
        write: orders.acceptOrders,
        isUnavailable: isDatabaseUnavailable,
        onWritten: (batch, outcomes) => {
          const accepted = batch.filter((_, index) => outcomes[index]?.kind === "accepted");
          for (const market of new Set(accepted.map((order) => order.market))) wakeOwner(market);
        },
        monotonicMs: () => performance.now(),
        timers: nodeTimers,
      }),
      store: orders,
      newUuid,
    }),
    readOrder: async (tenantId, id) =>
      (await orders.readOrder(tenantId, id)) ?? { refused: "ORDER_NOT_FOUND" },
    listOrders: orders.listOrders,
    cancelOrder: createOrderCanceller(changing),
    amendOrder: createOrderAmender(changing),
    presentOrder,
    listMarkets: () => markets.list,
    listTrades: async (name, limit, before) => {
      const market = markets.find(name);
      if (market === undefined) return { refused: "MARKET_NOT_FOUND" };
      return { market, trades: await trades.listTrades(name, limit, before) };
    },
    showOrderbook: createOrderbookShower(markets, views),
  };

  return {
    useCases,
    orders,
    presentOrder,
    callOffOrders: createOrdersCaller({
      store: orders,
      onRequested: wakeOwner,
      monotonicMs: () => performance.now(),
      timers: nodeTimers,
    }),
    followed: running.map(({ market, view }) => ({
      name: market.name,
      view,
      presentBook: (levels, depth) => presentBook(market, levels, depth),
      presentDelta: (delta, levels) => presentDelta(market, delta, levels),
      presentTrade: (trade) => presentTrade(market, trade),
    })),
    trades,
    prepare: async () => {
      const conflict = await prepareMarkets(database, markets.list);
      if (conflict !== undefined) throw new ConfigError(explain(conflict));
    },
    start: () => {
      for (const { view, owner } of running) {
        view.start();
        owner.start();
      }
    },
    startMarketMaker: (client) => {
      for (const market of markets.list) {
        const middle = usualPrices[market.name];
        if (middle === undefined) continue;
        const maker = createMarketMaker({
          market,
          middle,
          principal: { ...client, tokenId: "", scopes: new Set() },
          useCases,
          onError: (error) => log.warn({ err: error, market: market.name }, "the market maker had a problem"),
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
      await Promise.all(running.flatMap(({ view, owner }) => [owner.stop(), view.stop()]));
    },
  };
}

function explain(conflict: MarketConflict): string {
  const { market } = conflict;
  return conflict.kind === "missing"
    ? `markets: ${market} is missing and has orders: they must be shown and can be open, so it must stay.`
    : `markets: ${market} was started with tick_size ${conflict.tickSize} and lot_size ${conflict.lotSize}: its orders are counted in these, so they must stay.`;
}

/** What a process does for one market: it shows its book, and owns it where nobody else does. */
function runMarket(
  { database, settings, wakeUps, log, newUuid, now }: ComposeOptions,
  market: TradedMarket,
  policies: ActivePolicies,
) {
  const { name } = market;
  const events = createEventLog(wakeUps);
  const view = createMarketView({
    market,
    store: createLevelStore(database),
    onError: (error) => log.warn({ err: error, market: name }, "the book could not be brought up to date"),
    monotonicMs: () => performance.now(),
    timers: nodeTimers,
  });
  const owner = createMarketOwner({
    market,
    store: {
      ...createMarketLoader(database),
      ...createOrderAdmission(database, events),
      ...createBatchApplication(database, events),
    },
    leases: createMarketLeases(database),
    policies,
    holder: randomUUID(),
    leaseMs,
    openOrdersMax: settings["limits.open_orders"],
    onDelta: (delta) => {
      view.advance(delta);
      wakeUps.announce("levels", [name]);
    },
    onError: (error) => log.error({ err: error, market: name }, "the market could not go on; it tries again"),
    onLost: () => log.warn({ market: name }, "another process has taken the market"),
    newUuid,
    now,
    monotonicMs: () => performance.now(),
    timers: nodeTimers,
  });
  const isNamed = (names: readonly string[] | "any") => names === "any" || names.includes(name);
  wakeUps.listen("orders", (names) => {
    if (isNamed(names)) owner.wake();
  });
  wakeUps.listen("levels", (names) => {
    // The owner's own process has been told already.
    if (isNamed(names) && !owner.owns()) view.wake();
  });
  return { market, view, owner };
}
