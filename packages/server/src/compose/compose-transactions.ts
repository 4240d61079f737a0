import { type AssetRegistry, createAssetRegistry } from "@bursar/domain";
import { showId } from "@bursar/protocol";
import type { AuditRecorder } from "../app/audit/audit-recorder.js";
import { recordCreations } from "../app/audit/record-creations.js";
import type { ChainUseCases } from "../app/chain/chain-use-cases.js";
import { createSpeedUp } from "../app/chain/speed-up.js";
import { createEpochNames } from "../app/events/epoch.js";
import {
  createEventLister,
  createEventPresenters,
  type PresentEventsDeps,
} from "../app/events/present-events.js";
import { createEventPageReader } from "../app/events/read-event-page.js";
import { createTransactionMetrics } from "../app/metrics/transaction-metrics.js";
import type { RailServices, Rails } from "../app/rails/rail.js";
import { createRailRecorder } from "../app/rails/record-rail-events.js";
import { createAcceptQueue } from "../app/transactions/accept-queue.js";
import { createTransactionCanceller } from "../app/transactions/cancel-transaction.js";
import { type CancelTransactions, createBatchCanceller } from "../app/transactions/cancel-transactions.js";
import { createChangeHub } from "../app/transactions/change-hub.js";
import { createTransactionCreator } from "../app/transactions/create-transaction.js";
import { createFinishedTransactions } from "../app/transactions/finished-transactions.js";
import { createDeadlineList } from "../app/transactions/list-by-deadline.js";
import { createEntryLister } from "../app/transactions/list-entries.js";
import { createTransactionReader } from "../app/transactions/read-transaction.js";
import { createRefusedItemsRecorder } from "../app/transactions/record-refused-items.js";
import { createTransactionShower } from "../app/transactions/show-transaction.js";
import { createTransactionTamperReports } from "../app/transactions/tampered-transactions.js";
import type { TransactionUseCases } from "../app/transactions/transaction-use-cases.js";
import { withAssetCode } from "../app/transactions/with-asset-code.js";
import { createWalletCreator } from "../app/wallets/create-wallet.js";
import { createWalletPresenter } from "../app/wallets/present-wallet.js";
import { createFreezer } from "../app/wallets/set-frozen.js";
import type { WalletDirectory } from "../app/wallets/wallet-directory.js";
import type { WalletUseCases } from "../app/wallets/wallet-use-cases.js";
import type { EventRendererDeps } from "../app/webhooks/render-events.js";
import { createEngine, type Engine } from "../engine/engine.js";
import { createBatchSettler } from "../engine/settle-batch.js";
import type { LoadGauge } from "../runtime/load-gauge.js";
import { nodeTimers } from "../runtime/loops/timers.js";
import type { Metric } from "../runtime/metric.js";
import { createChangeRequestStore } from "../store/access/change-requests/change-requests.js";
import { readSpeedUpFacts, requestSpeedUp } from "../store/chain/speed-up.js";
import { isDatabaseUnavailable, isLockTimeout, isStatementTimeout } from "../store/core/database.js";
import { createEventLog, createEventStore } from "../store/events/events.js";
import { createEventSearch } from "../store/events/find-events.js";
import { readEntries } from "../store/ledger/ledger.js";
import { createDeadlinePages } from "../store/transactions/deadline-page.js";
import { createRailTransactionStore } from "../store/transactions/rail-transactions.js";
import { createSettlementStore } from "../store/transactions/settlement.js";
import { createTransactionStore } from "../store/transactions/transactions.js";
import { createWalletActivation } from "../store/wallets/activate-wallets.js";
import { createWalletStore } from "../store/wallets/wallets.js";
import type { ComposeOptions } from "./compose.js";
import { composeApprovals } from "./compose-approvals.js";
import type { ChainServices } from "./compose-chains.js";
import { composeDeposits, type DepositParts } from "./compose-deposits.js";
import { composeLoad } from "./compose-load.js";
import type { PolicyParts } from "./compose-policy.js";
import { observeSettlements } from "./compose-tracing.js";
import { createStops } from "./create-stops.js";
import { createEvidenceBox } from "./evidence-box.js";
import type { MarketParts } from "./markets/compose-markets.js";
import { presentAsset } from "./present-asset.js";
import { secretContexts } from "./secret-contexts.js";

/** Wallets, transactions, the engine that processes them, and the event log. */
export interface TransactionParts extends Pick<DepositParts, "fundWallet" | "fundPrimary"> {
  useCases: TransactionUseCases & WalletUseCases & Pick<ChainUseCases, "speedUpTransaction">;
  assets: AssetRegistry;
  engine: Engine;
  /** Cancels many transactions of a tenant. */
  cancelTransactions: CancelTransactions;
  load: LoadGauge;
  metrics: readonly Metric[];
  /** For deliveries. */
  signed: Pick<EventRendererDeps, "present" | "onTampered">;
  /** Ends long polls, because the service stops. */
  endWaiting: () => void;
  /** What the drivers of rails work with. */
  railServices: Omit<RailServices, "onError">;
  chainServices: ChainServices;
}

interface TransactionNeeds {
  rails: Rails;
  wallets: WalletDirectory;
  audit: AuditRecorder;
  policy: Pick<PolicyParts, "policies" | "allowList">;
  orders: Pick<PresentEventsDeps, "orders" | "presentOrder"> &
    Pick<MarketParts, "cancelOrdersOfFrozenWallet">;
}

export function composeTransactions(
  options: ComposeOptions,
  { rails, wallets: walletDirectory, audit, policy: { policies, allowList }, orders }: TransactionNeeds,
): TransactionParts {
  const { database, sealing, settings, wakeUps, log, tracer, newUuid, now } = options;
  const events = createEventLog(wakeUps);
  const stopInAnyCase = createStops(options);
  const monotonicMs = () => performance.now();
  const assets = createAssetRegistry(settings.assets);
  const presentedAssets = assets.list.map(presentAsset);
  const transactions = createTransactionStore(database, assets);
  const listByDeadline = createDeadlineList(createDeadlinePages(database), transactions);
  const wallets = createWalletStore(database, events);
  const { presentEvents, presentVerified } = createEventPresenters({
    transactions,
    wallets,
    orders: orders.orders,
    presentOrder: orders.presentOrder,
    changeRequests: createChangeRequestStore(database, events),
  });
  const changes = createChangeHub(nodeTimers);
  const read = createTransactionReader({ store: transactions, changes, monotonicMs });
  const counts = createTransactionMetrics();
  const observeUnit = observeSettlements(counts.countSettled, tracer);
  const settlements = createSettlementStore(database, events, assets, observeUnit);
  const tampered = createTransactionTamperReports({
    audit,
    onTampered: (ids) =>
      log.error(
        ids,
        "The database row of a transaction was changed by something other than Bursar. The transaction is set aside.",
      ),
    now,
  });
  const settleBatch = createBatchSettler({
    settlements,
    rails,
    policies,
    isUnavailable: isDatabaseUnavailable,
    isTimeout: isStatementTimeout,
    isLockTimeout,
    onFailure: ({ tenantId, id }, error) =>
      log.error(
        { err: error, tenant_id: showId("tnt", tenantId), transaction_id: showId("tx", id) },
        "A transaction could not be settled. It is tried again later.",
      ),
    onTampered: tampered.report,
    now,
  });
  const engine = createEngine({
    settleBatch,
    findWork: settlements.findWork,
    wallets: createWalletActivation(
      database,
      events,
      rails.list.filter((rail) => rail.activatesWalletsAtOnce).map(({ network }) => network),
      ({ tenantId, id }, error) =>
        log.error(
          { err: error, tenant_id: showId("tnt", tenantId), wallet_id: showId("wlt", id) },
          "A wallet could not be activated. It is tried again later.",
        ),
    ),
    onChanged: (settled) => {
      changes.publish(settled.map(({ transaction }) => transaction.id));
      if (settled.some(({ decision }) => decision?.state === "processing")) wakeUps.publish("rails", []);
    },
    onError: (error) => log.error({ err: error }, "The engine failed. It tries again."),
    onStalled: (tenantId) =>
      log.warn(
        { tenant_id: showId("tnt", tenantId) },
        "Something other than Bursar holds a lock on rows of a tenant. The tenant is not settled until the lock is released; the others are.",
      ),
    isNotified: wakeUps.isNotified,
    now,
    monotonicMs,
    timers: nodeTimers,
  });
  const queue = createAcceptQueue({
    store: transactions,
    isUnavailable: isDatabaseUnavailable,
    onAccepted: (tenantIds, accepted) => {
      wakeUps.publish("accepted", tenantIds);
      counts.countAccepted(accepted);
    },
    monotonicMs,
    timers: nodeTimers,
  });
  const load = composeLoad(options, queue);
  wakeUps.subscribe("accepted", engine.wake);
  const finished = createFinishedTransactions();
  database.identity.subscribe(finished.clear);
  const eventStore = createEventStore(database);
  const listEvents = createEventLister(eventStore, presentEvents);
  const createTransaction = createTransactionCreator({
    assets,
    wallets: walletDirectory,
    rails,
    policies,
    allowList,
    queue,
    store: transactions,
    newUuid,
    generation: database.identity.generation,
  });

  const { createDeposit, ...funding } = composeDeposits(options, {
    ...{ assets, events, transactions, wallets },
    observeUnit,
  });

  return {
    ...funding,
    assets,
    engine,
    cancelTransactions: createBatchCanceller({
      settlements,
      rails,
      changes,
      isLockTimeout,
      onError: (error) => log.error({ err: error }, "A transaction could not be cancelled. It is retried."),
      now,
    }),
    load,
    metrics: [...counts.metrics, tampered.metric],
    signed: { present: presentVerified, onTampered: tampered.report },
    endWaiting: changes.close,
    chainServices: { assets, onChanged: changes.publish, observeUnit },
    railServices: {
      assets,
      ...createRailTransactionStore(database),
      ...createRailRecorder({ settlements, assets, onChanged: changes.publish, newUuid, now }),
    },
    useCases: {
      createTransaction: recordCreations(audit, "transaction.create", createTransaction, (created) =>
        showId("tx", created.transaction.id),
      ),
      createDeposit,
      recordRefusedItems: createRefusedItemsRecorder(audit, now),
      isUnavailable: isDatabaseUnavailable,
      showTransaction: createTransactionShower({ read, finished, database }),
      listTransactions: (tenantId, filter, ...page) =>
        transactions.listTransactions(tenantId, withAssetCode(filter, assets), ...page),
      listByDeadline: (tenantId, filter, ...page) =>
        listByDeadline(tenantId, withAssetCode(filter, assets), ...page),
      cancelTransaction: createTransactionCanceller({
        ...{ settlements, stopInAnyCase, rails, read, changes },
        onRequested: () => wakeUps.publish("rails", []),
        audit,
        now,
      }),
      speedUpTransaction: createSpeedUp({
        readFacts: (key) => readSpeedUpFacts(database, key),
        requestSpeedUp: (...request) => requestSpeedUp(database, ...request),
        read,
        onRequested: () => wakeUps.publish("rails", []),
        now,
      }),
      listEntries: createEntryLister({ read, readEntries: readEntries.bind(undefined, database), assets }),
      ...composeApprovals({
        ...{ database, events, assets, read, policies, allowList, wallets: walletDirectory, now },
        box: createEvidenceBox(sealing, now, secretContexts.approval),
        onRecorded: () => wakeUps.publish("accepted", []),
      }),
      listAssets: () => presentedAssets,
      listEvents,
      readEventPage: createEventPageReader({
        listEvents,
        findEvents: createEventSearch(database, eventStore).findEvents,
        presentEvents,
        positions: eventStore,
        identity: database.identity,
        epochs: createEpochNames(database.identity),
      }),
      createWallet: createWalletCreator({
        store: wallets,
        rails,
        onCreated: (network) =>
          wakeUps.publish(rails.get(network).activatesWalletsAtOnce ? "accepted" : "rails", []),
        newUuid,
        now,
      }),
      readWallet: async (tenantId, id) =>
        (await wallets.readWallet(tenantId, id)) ?? { refused: "WALLET_NOT_FOUND" },
      listWallets: wallets.listWallets,
      setFrozen: createFreezer({
        store: wallets,
        stopInAnyCase,
        cancelOrders: orders.cancelOrdersOfFrozenWallet,
        onFrozen: () => wakeUps.publish("rails", []),
        ...{ recorder: audit, wallets: walletDirectory },
        now,
      }),
      presentWallet: createWalletPresenter(assets, settings.networks),
    },
  };
}
