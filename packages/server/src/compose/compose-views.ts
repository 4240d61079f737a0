import type { AssetRegistry } from "@bursar/domain";
import type { AuditKey } from "../app/audit/checkpoint.js";
import { type ClientUsage, createClientUsage, createUsageWriter } from "../app/clients/client-usage.js";
import { createEpochNames } from "../app/events/epoch.js";
import { createLogReader } from "../app/overview/log-reader.js";
import { createOverview, type OverviewUseCases } from "../app/overview/overview.js";
import { createSearch } from "../app/search/search.js";
import { createSystem, type SystemUseCases } from "../app/system/system.js";
import { runRegularly } from "../runtime/loops/run-regularly.js";
import { nodeTimers } from "../runtime/loops/timers.js";
import { createUsageStore } from "../store/access/client-usage.js";
import { OutcomeUnknownError } from "../store/core/database-unavailable-error.js";
import { readMigrations } from "../store/core/schema/migrations.js";
import { createLogReaderStore } from "../store/overview/log-reader-store.js";
import { createOverviewStore } from "../store/overview/overview-store.js";
import { createSearchStore } from "../store/search/search.js";
import { createSystemStore } from "../store/system/system-store.js";
import { softwareVersion } from "../version.js";
import type { ComposeOptions } from "./compose.js";
import type { AccessParts } from "./compose-access.js";
import type { ChainParts } from "./compose-chains.js";
import type { TransactionParts } from "./compose-transactions.js";
import type { MarketParts } from "./markets/compose-markets.js";

/** What people look at: search, statements and sums, and the reader of the log that writes these. */
export interface ViewParts {
  useCases: OverviewUseCases & ClientUsage & SystemUseCases;
  start: () => void;
  stop: () => Promise<void>;
}

export interface ViewedParts {
  assets: AssetRegistry;
  access: Pick<AccessParts, "quotas" | "unreadableTokenKeys"> & {
    useCases: Pick<AccessParts["useCases"], "readClient" | "listTokenKeys">;
  };
  transactions: Pick<TransactionParts, "load"> & {
    useCases: Pick<TransactionParts["useCases"], "readWallet">;
  };
  chains: Pick<ChainParts, "checkChains">;
  markets: Pick<MarketParts, "holder">;
  listAuditKeys: () => readonly AuditKey[];
}

function chainsOf({ list }: AssetRegistry): string[] {
  return [...new Set(list.map(({ network }) => network))].filter((network) => network !== "book");
}

/** What was counted in memory is written this often. */
const writeUsageEveryMs = 10_000;

export function composeViews(
  { database, wakeUps, log, now, isClockTrusted, readinessFaults = () => [] }: ComposeOptions,
  { assets, access, transactions, chains, markets, listAuditKeys }: ViewedParts,
): ViewParts {
  const overviewStore = createOverviewStore(database);
  const usageStore = createUsageStore(database);
  const writeUsage = createUsageWriter({
    store: usageStore,
    take: access.quotas.takeRequestCounts,
    isOutcomeUnknown: (error) => error instanceof OutcomeUnknownError,
    now,
  });
  const onUsageError = (error: unknown) =>
    log.warn({ err: error }, "The requests of clients could not be written down. It is retried.");
  let stopWritingUsage = () => {};
  const reader = createLogReader({
    store: createLogReaderStore(database),
    onError: (error) =>
      log.warn({ err: error }, "Events could not be added to statements and sums. It is retried."),
    monotonicMs: () => performance.now(),
    timers: nodeTimers,
  });
  const unsubscribe = wakeUps.subscribe("events", reader.wake);
  return {
    useCases: {
      search: createSearch(createSearchStore(database, chainsOf(assets))),
      ...createOverview({
        store: overviewStore,
        assets,
        readWallet: transactions.useCases.readWallet,
        now,
      }),
      ...createClientUsage({
        store: usageStore,
        quotas: access.quotas,
        readClient: access.useCases.readClient,
        now,
      }),
      ...createSystem({
        store: createSystemStore(database),
        overview: overviewStore,
        process: {
          id: markets.holder,
          startedAt: new Date(now()),
          version: softwareVersion,
          schemaVersion: readMigrations().length,
        },
        poolUse: database.poolUse,
        epoch: createEpochNames(database.identity).current,
        isClockTrusted,
        readinessFaults,
        isOverloaded: () => transactions.load.reading().isOverloaded,
        checkChains: chains.checkChains,
        listTokenKeys: access.useCases.listTokenKeys,
        listUnreadableTokenKeys: access.unreadableTokenKeys,
        listAuditKeys,
        now,
      }),
    },
    start: () => {
      reader.start();
      stopWritingUsage = runRegularly({
        intervalMs: writeUsageEveryMs,
        jobs: [writeUsage],
        onError: onUsageError,
      });
    },
    stop: async () => {
      unsubscribe();
      stopWritingUsage();
      await writeUsage().catch(onUsageError);
      await reader.stop();
    },
  };
}
