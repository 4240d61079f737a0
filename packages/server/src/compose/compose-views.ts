import type { AssetRegistry } from "@bursar/domain";
import { createLogReader } from "../app/overview/log-reader.js";
import { createOverview, type OverviewUseCases } from "../app/overview/overview.js";
import { createSearch } from "../app/search/search.js";
import type { WalletUseCases } from "../app/wallets/wallet-use-cases.js";
import { nodeTimers } from "../runtime/loops/timers.js";
import { createLogReaderStore } from "../store/overview/log-reader-store.js";
import { createOverviewStore } from "../store/overview/overview-store.js";
import { createSearchStore } from "../store/search/search.js";
import type { ComposeOptions } from "./compose.js";

/** What people look at: search, statements and sums, and the reader of the log that writes these. */
export interface ViewParts {
  useCases: OverviewUseCases;
  start: () => void;
  stop: () => Promise<void>;
}

export function composeViews(
  { database, wakeUps, log, now }: ComposeOptions,
  assets: AssetRegistry,
  { readWallet }: Pick<WalletUseCases, "readWallet">,
): ViewParts {
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
      search: createSearch(createSearchStore(database)),
      ...createOverview({ store: createOverviewStore(database), assets, readWallet, now }),
    },
    start: reader.start,
    stop: async () => {
      unsubscribe();
      await reader.stop();
    },
  };
}
