import type { Metric, Sample } from "../../runtime/metric.js";
import type { MarketReading, QueueReader, QueueReading, Waiting } from "./queue-reading.js";

export interface QueueMetricsDeps {
  queues: QueueReader;
  /** The last change of a market's levels that this process has applied; undefined if it has none yet. */
  levelSequenceOf: (market: string) => number | undefined;
  now: () => number;
}

/**
 * Metrics of what all processes share. Each process reports them, so a dashboard takes the maximum. While the database does not answer
 * they have no values.
 */
export function queueMetrics({ queues, levelSequenceOf, now }: QueueMetricsDeps): Metric[] {
  const gauge = (
    name: string,
    help: string,
    samplesOf: (reading: QueueReading) => readonly Sample[],
  ): Metric => ({
    name,
    help,
    kind: "gauge",
    read: async () => {
      const reading = await queues.read();
      return reading === undefined ? [] : samplesOf(reading);
    },
  });
  const ageOf = ({ oldest }: Waiting) =>
    oldest === undefined ? 0 : Math.max(0, now() - oldest.getTime()) / 1000;
  const byMarket = (numberOf: (market: MarketReading) => number) => (reading: QueueReading) =>
    reading.markets.map((one) => ({ labels: { market: one.market }, value: numberOf(one) }));

  return [
    gauge(
      "bursar_open_transactions",
      "Transactions that are not final, by what they wait for. The count ends at 10000.",
      ({ transactions }) => byLabel("queue", transactions, ({ count }) => count),
    ),
    gauge(
      "bursar_open_transactions_oldest_seconds",
      "The age of the oldest transaction that is not final, by what it waits for.",
      ({ transactions: { accepted, on_rail, failed } }) =>
        byLabel("queue", { accepted, on_rail, failed }, ageOf),
    ),
    gauge(
      "bursar_webhook_due_deliveries",
      "Webhook deliveries that are due, by the health of their endpoints. The count ends at 10000.",
      ({ deliveries }) => byLabel("endpoints", deliveries, ({ count }) => count),
    ),
    gauge(
      "bursar_webhook_oldest_due_seconds",
      "How long the oldest webhook delivery has been due, by the health of its endpoint.",
      ({ deliveries }) => byLabel("endpoints", deliveries, ageOf),
    ),
    gauge(
      "bursar_webhook_deferred_events",
      "Events whose webhook deliveries are still to be written, because they are many.",
      ({ deferredEvents }) => [{ labels: {}, value: deferredEvents }],
    ),
    gauge(
      "bursar_webhook_endpoints",
      "Webhook endpoints that are failing, or that the service has disabled. Each count ends at 1000.",
      ({ endpoints: { failing, disabledFailing, disabledGone } }) =>
        byLabel(
          "state",
          { failing, disabled_failing: disabledFailing, disabled_gone: disabledGone },
          (count) => count,
        ),
    ),
    gauge(
      "bursar_market_new_orders",
      "Orders that were accepted and not yet admitted. The count ends at 1000.",
      byMarket(({ newOrders }) => newOrders.count),
    ),
    gauge(
      "bursar_market_oldest_new_order_seconds",
      "The age of the oldest order that was not yet admitted.",
      byMarket(({ newOrders }) => ageOf(newOrders)),
    ),
    gauge(
      "bursar_market_unexecuted_commands",
      "Commands of a market that were admitted and not yet executed.",
      byMarket(({ commands }) => commands),
    ),
    gauge(
      "bursar_market_running",
      "1 if a process runs the market.",
      byMarket(({ isHeld }) => Number(isHeld)),
    ),
    gauge(
      "bursar_market_halted",
      "1 while a market is halted and waits for `bursar market resume`.",
      byMarket(({ isHalted }) => Number(isHalted)),
    ),
    gauge(
      "bursar_failed_orders",
      "Orders that could not be processed, or were set aside because their rows were changed. The count ends at 1000.",
      ({ failedOrders }) => [{ labels: {}, value: failedOrders }],
    ),
    gauge(
      "bursar_market_view_behind_changes",
      "How many changes of the price levels this process has not applied to its copy of the book.",
      byMarket(({ market, levelSequence }) =>
        Math.max(0, levelSequence - (levelSequenceOf(market) ?? levelSequence)),
      ),
    ),
    gauge(
      "bursar_ledger_audit_timestamp_seconds",
      "When `bursar audit ledger` was last run to its end; 0 if never.",
      ({ ledgerAudit }) => [{ labels: {}, value: (ledgerAudit?.finishedAt.getTime() ?? 0) / 1000 }],
    ),
    gauge(
      "bursar_ledger_audit_violated_rules",
      "How many rules of the ledger the last audit found violated.",
      ({ ledgerAudit }) => [{ labels: {}, value: ledgerAudit?.violated ?? 0 }],
    ),
    {
      name: "bursar_queue_reads_failed_total",
      help: "How often the database did not answer the statement behind the metrics of queues.",
      kind: "counter",
      read: queues.failures,
    },
  ];
}

function byLabel<T>(
  label: string,
  values: Readonly<Record<string, T>>,
  numberOf: (value: T) => number,
): Sample[] {
  return Object.entries(values).map(([name, value]) => ({
    labels: { [label]: name },
    value: numberOf(value),
  }));
}
