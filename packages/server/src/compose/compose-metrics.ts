import { queueMetrics } from "../app/metrics/queue-metrics.js";
import { createQueueReader } from "../app/metrics/queue-reading.js";
import { limitMetrics } from "../app/quotas/limit-metrics.js";
import type { Metric } from "../runtime/metric.js";
import type { Readiness } from "../runtime/readiness.js";
import { poolMetrics } from "../store/core/connection/pool-metrics.js";
import { readQueues } from "../store/metrics/read-queues.js";
import type { StreamGateway } from "../stream/gateway.js";
import { softwareVersion } from "../version.js";
import type { ComposeOptions } from "./compose.js";
import type { AccessParts } from "./compose-access.js";
import type { ChainParts } from "./compose-chains.js";
import type { TransactionParts } from "./compose-transactions.js";
import type { WebhookParts } from "./compose-webhooks.js";
import type { MarketParts } from "./markets/compose-markets.js";

interface MeasuredParts {
  access: Pick<AccessParts, "metrics" | "quotas" | "addresses">;
  transactions: Pick<TransactionParts, "metrics" | "load">;
  webhooks: Pick<WebhookParts, "metrics">;
  markets: Pick<MarketParts, "followed">;
  chains: Pick<ChainParts, "metrics">;
  stream: Pick<StreamGateway, "metrics">;
}

/** The metrics of all parts. */
export function composeMetrics(
  { database, now }: ComposeOptions,
  { access, transactions, webhooks, markets, chains, stream }: MeasuredParts,
): Metric[] {
  const views = new Map(markets.followed.map(({ name, view }) => [name, view]));
  const queues = createQueueReader({
    readQueues: () => readQueues(database, [...views.keys()], new Date(now())),
    monotonicMs: () => performance.now(),
  });
  return [
    ...access.metrics,
    ...stream.metrics,
    ...limitMetrics({ ...access, load: transactions.load }),
    ...transactions.metrics,
    ...webhooks.metrics,
    ...chains.metrics,
    ...poolMetrics(database),
    ...queueMetrics({
      queues,
      levelSequenceOf: (market) => views.get(market)?.levels()?.sequence,
      now,
    }),
  ];
}

/** Metrics of the process itself. */
export function stateMetrics({ state }: Pick<Readiness, "state">): Metric[] {
  return [
    {
      name: "bursar_ready",
      help: "1 while the service has started and is not stopping. `/readyz` also checks the database.",
      kind: "gauge",
      read: () => Number(state() === "ready"),
    },
    {
      name: "bursar_build_info",
      help: "The version of the service; the value is always 1.",
      kind: "gauge",
      read: () => [{ labels: { version: softwareVersion }, value: 1 }],
    },
  ];
}
