import { randomBytes } from "node:crypto";
import { type AssetRegistry, createAssetRegistry } from "@bursar/domain";
import type { Logger } from "pino";
import type { IntegrityKeys } from "../app/access/integrity-keys.js";
import { listAuditKeys } from "../app/audit/checkpoint.js";
import { createTenantCreator, type TenantCreator } from "../app/clients/create-tenant.js";
import { allClients } from "../app/clients/sweep.js";
import { createSweeper, type Sweeper } from "../app/clients/sweeps.js";
import { createTenantSuspension, type SetTenantSuspended } from "../app/clients/tenant-suspension.js";
import { createEpochNames } from "../app/events/epoch.js";
import { createLoadShedder } from "../app/quotas/load-shedder.js";
import { createRails, type RailDriver, type RailPart } from "../app/rails/rail.js";
import type { UseCases } from "../app/use-cases.js";
import { createWalletDirectory } from "../app/wallets/wallet-directory.js";
import { assertNetworksKnown } from "../config/asset-list.js";
import { readMarkets } from "../config/market-list.js";
import type { Settings } from "../config/settings.js";
import { createIntegrityKeys } from "../credentials/integrity-keys.js";
import type { Sealing } from "../credentials/sealing.js";
import type { Engine } from "../engine/engine.js";
import type { AccessGuard } from "../http/access/guard.js";
import { bookRail } from "../rails/book/book-rail.js";
import { createLongWait } from "../runtime/concurrency/long-wait.js";
import type { LoadGauge } from "../runtime/load-gauge.js";
import { nodeTimers } from "../runtime/loops/timers.js";
import type { WakeUps } from "../runtime/loops/wake-ups.js";
import type { Metric } from "../runtime/metric.js";
import type { ReadinessFault } from "../runtime/readiness.js";
import type { Tracer } from "../runtime/tracing/tracer.js";
import { createClientStore, createTenantStore } from "../store/access/clients.js";
import { adoptDatabase, prepareIntegrity } from "../store/access/integrity.js";
import { createSweepStore } from "../store/access/sweeps.js";
import { createTenantSuspensionStore } from "../store/access/tenant-suspension.js";
import { type Database, isLockTimeout, withKeys } from "../store/core/database.js";
import { confirmCommits } from "../store/core/rows/insert-or-find.js";
import { createEventLog } from "../store/events/events.js";
import { createWalletStore } from "../store/wallets/wallets.js";
import type { StreamGateway } from "../stream/gateway.js";
import type { WebhookSender } from "../webhooks/webhook-sender.js";
import { readChainNetworks } from "./chains/read-chain-networks.js";
import { composeAccess } from "./compose-access.js";
import { type ChainParts, composeChains } from "./compose-chains.js";
import { type ChangeRequestParts, composeChangeRequests } from "./compose-change-requests.js";
import { composeCheckpoints } from "./compose-checkpoints.js";
import { composeMetrics } from "./compose-metrics.js";
import { composePolicy } from "./compose-policy.js";
import { composeStream } from "./compose-stream.js";
import { composeTransactions, type TransactionParts } from "./compose-transactions.js";
import { composeViews } from "./compose-views.js";
import { composeWebhooks, type WebhookOptions } from "./compose-webhooks.js";
import { createRailDrivers } from "./create-rail-drivers.js";
import { createHoldOrders, createStops } from "./create-stops.js";
import { composeMarkets, type MarketParts } from "./markets/compose-markets.js";
import { secretContexts } from "./secret-contexts.js";
import { keepAnalyzed } from "./upkeep/keep-analyzed.js";
import { keepHouse } from "./upkeep/keep-house.js";

/** The dependencies of all parts. Each subject has a file that wires its use cases to their ports; this one wires the subjects together. */
export interface ComposeOptions {
  database: Database;
  sealing: Sealing;
  wakeUps: WakeUps;
  settings: Settings;
  publicUrl: string;
  webhooks: WebhookOptions;
  /** Rails beside the book. */
  rails?: readonly RailPart[];
  /** Whether chains are followed from their first use on, instead of from the start. */
  chainsOnDemand?: boolean;
  log: Logger;
  /** Undefined if nothing is recorded. */
  tracer?: Tracer | undefined;
  newUuid: () => string;
  /** The database's time, see `DatabaseClock`. */
  now: () => number;
  /** While it is false, nothing is removed because of its age. */
  isClockTrusted: () => boolean;
  readinessFaults?: () => readonly ReadinessFault[];
}

/** The wired parts that the HTTP edge and the command line need. */
export interface Parts {
  /** The database, whose stores authenticate what they write. */
  database: Database;
  keys: IntegrityKeys;
  useCases: UseCases;
  guard: AccessGuard;
  stream: StreamGateway;
  metrics: readonly Metric[];
  createTenant: TenantCreator["createTenant"];
  createTenantOnce: TenantCreator["createTenantOnce"];
  fundWallet: TransactionParts["fundWallet"];
  fundPrimary: TransactionParts["fundPrimary"];
  engine: Engine;
  changeRequestWorker: ChangeRequestParts["worker"];
  /** Finishes what disabling a client or suspending a tenant leaves to do. */
  sweeper: Pick<Sweeper, "start">;
  setTenantSuspended: SetTenantSuspended;
  load: LoadGauge;
  /** Runs the markets, or waits to take over one whose process is gone. */
  markets: Pick<MarketParts, "start" | "startMarketMaker" | "findHalted">;
  sender: WebhookSender;
  /** Those of the rails that have one. */
  railDrivers: readonly RailDriver[];
  probeChains: ChainParts["probe"];
  auditChains: ChainParts["audit"];
  startChains: ChainParts["start"];
  checkChains: ChainParts["checkChains"];
  /** Ends long polls, because the service stops. */
  endWaiting: () => void;
  assets: AssetRegistry;
  /** Called once, after the migrations, before anything is written. */
  prepareIntegrity: () => Promise<void>;
  /** False if there was nothing to adopt. */
  adoptDatabase: () => Promise<boolean>;
  /** Called once, after the migrations. */
  prepare: () => Promise<void>;
  /** The part of it that is repeated when the database has changed: it can lack what was stored there. */
  prepareDatabase: () => Promise<void>;
  close: () => Promise<void>;
}

export function compose(given: ComposeOptions): Parts {
  const { log, newUuid, now } = given;
  const keys = createIntegrityKeys(given.sealing);
  const database = withKeys(given.database, keys);
  const options: ComposeOptions = { ...given, database };
  const shedder = createLoadShedder({
    load: { reading: () => transactions.load.reading() },
    monotonicMs: () => performance.now(),
  });
  const access = composeAccess(options, {
    shedder,
    onStateChanged: ({ tenantId, id: clientId, state }) =>
      sweeper.runFor({ tenantId, clientId, isStopped: state === "disabled" }),
  });
  const assets = createAssetRegistry(options.settings.assets);
  const chains = composeChains(options, readChainNetworks(options.settings.networks, assets.list));
  const railParts: readonly RailPart[] = [{ rail: bookRail }, ...chains.rails, ...(options.rails ?? [])];
  const rails = createRails(railParts.map(({ rail }) => rail));
  assertNetworksKnown(assets.list, rails.networks);
  const marketRegistry = readMarkets(options.settings.markets, assets);
  const wallets = createWalletDirectory(createWalletStore(database, createEventLog(options.wakeUps)));
  database.identity.subscribe(wallets.clear);
  const policy = composePolicy(options, {
    ...{ assets, wallets },
    rails,
    markets: marketRegistry,
    // A change of the policy can need approval, and an approved change request can change the policy.
    requestChange: (...given) => changeRequests.useCases.requestChange(...given),
  });
  const changeRequests = composeChangeRequests(options, access, policy.executors);
  const longWait = createLongWait();
  const markets = composeMarkets(options, {
    ...{ longWait, markets: marketRegistry, wallets },
    policies: policy.policies,
    audit: access.guard.audit,
  });
  const transactions = composeTransactions(options, {
    ...{ rails, policy, wallets },
    audit: access.guard.audit,
    orders: markets,
  });
  const sweeper = createSweeper({
    store: createSweepStore(database),
    holdOrders: createHoldOrders(options),
    longWait,
    cancelTransactions: transactions.cancelTransactions,
    onOrdersRequested: (names) => options.wakeUps.publish("orders", names),
    onRailsRequested: () => options.wakeUps.publish("rails", []),
    onReleased: () => options.wakeUps.publish("accepted", []),
    isLockTimeout,
    onError: (error) =>
      log.error(
        { err: error },
        "What a disabled client has requested could not be cancelled. It is retried.",
      ),
    now,
    timers: nodeTimers,
  });
  database.identity.subscribe(sweeper.reset);
  const railDrivers = [
    ...createRailDrivers(railParts, transactions, options),
    ...chains.createDrivers(transactions.chainServices),
  ];
  const webhooks = composeWebhooks(options, {
    ...{ signed: transactions.signed, audit: access.guard.audit, clients: access.clients, shedder },
  });
  const stream = composeStream(options, access, transactions.useCases, markets);
  const auditKeys = () => listAuditKeys(keys, keys.ids());
  const viewed = { assets, access, transactions, chains, markets, listAuditKeys: auditKeys };
  const views = composeViews(options, viewed);
  const stopHousekeeping = keepHouse(options, markets.keepHouse);
  const checkpoints = composeCheckpoints(options);
  const analyzing = keepAnalyzed(options);

  const prepareDatabase = async () => {
    await prepareIntegrity(database, keys.retain, new Date(now()));
    await access.prepare();
    await markets.prepare();
    // A server that restarts shows commits that its synchronous standby does not have. One commit more waits for all of them.
    await confirmCommits(database);
  };

  return {
    database,
    keys,
    useCases: {
      ...access.useCases,
      ...changeRequests.useCases,
      ...transactions.useCases,
      ...chains.useCases,
      ...markets.useCases,
      ...policy.useCases,
      ...webhooks.useCases,
      ...stream.useCases,
      listAuditKeys: auditKeys,
      ...views.useCases,
      tagSuffix: createEpochNames(database.identity).tagSuffix,
    },
    guard: access.guard,
    stream: stream.gateway,
    metrics: composeMetrics(options, {
      ...{ access, transactions, webhooks, markets, chains },
      stream: stream.gateway,
    }),
    ...createTenantCreator({
      tenants: createTenantStore(database),
      clients: createClientStore(database),
      sealSecret: (id, secret) => options.sealing.seal(secretContexts.firstClient(id), secret),
      openSecret: (id, sealed) => options.sealing.open(secretContexts.firstClient(id), sealed),
      keys,
      newUuid,
      randomBytes,
      now,
    }),
    setTenantSuspended: createTenantSuspension({
      store: createTenantSuspensionStore(database),
      stopInAnyCase: createStops(options),
      onChanged: (tenantId, isSuspended) => {
        options.wakeUps.publish("rails", []);
        return sweeper.runFor({ tenantId, clientId: allClients, isStopped: isSuspended });
      },
      now,
    }),
    fundWallet: transactions.fundWallet,
    fundPrimary: transactions.fundPrimary,
    prepareIntegrity: () => prepareIntegrity(database, keys.retain, new Date(now())),
    adoptDatabase: () => adoptDatabase(database, keys.retain, new Date(now())),
    prepareDatabase,
    prepare: async () => {
      await prepareDatabase();
      analyzing.start();
      checkpoints.start();
      views.start();
    },
    engine: transactions.engine,
    changeRequestWorker: changeRequests.worker,
    sweeper,
    load: transactions.load,
    markets,
    sender: webhooks.sender,
    railDrivers,
    probeChains: chains.probe,
    auditChains: chains.audit,
    startChains: chains.start,
    checkChains: chains.checkChains,
    endWaiting: transactions.endWaiting,
    assets: transactions.assets,
    close: async () => {
      stopHousekeeping();
      analyzing.stop();
      transactions.load.stop();
      await stream.close();
      await sweeper.stop();
      await markets.stop();
      for (const driver of railDrivers) await driver.stop();
      await chains.stop();
      await transactions.engine.stop();
      await changeRequests.worker.stop();
      await webhooks.close();
      await views.stop();
      await access.close();
      await checkpoints.close();
    },
  };
}
