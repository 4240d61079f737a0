import type { LoadGauge } from "../../runtime/load-gauge.js";
import type { Metric } from "../../runtime/metric.js";
import type { AddressQuota } from "./address-quota.js";
import type { QuotaKeeper } from "./quota-keeper.js";

interface LimitMetricsSources {
  quotas: Pick<QuotaKeeper, "counts">;
  addresses: Pick<AddressQuota, "counts">;
  load: Pick<LoadGauge, "reading">;
}

/** Metrics of the limits. The number of refused requests is among the error counts. */
export function limitMetrics({ quotas, addresses, load }: LimitMetricsSources): Metric[] {
  return [
    {
      name: "bursar_quota_reservations_total",
      help: "Statements that reserved tokens from the shared buckets.",
      kind: "counter",
      read: () => quotas.counts.reservations,
    },
    {
      name: "bursar_quota_reservations_unanswered_total",
      help: "Reservations that were not answered in time; the process then counts locally.",
      kind: "counter",
      read: () => quotas.counts.unanswered,
    },
    {
      name: "bursar_address_refusals_total",
      help: "Requests without a valid token, or to /oauth, that were refused because of the quota of their address.",
      kind: "counter",
      read: () => addresses.counts.refused,
    },
    {
      name: "bursar_overloaded",
      help: "1 while new work is refused.",
      kind: "gauge",
      read: () => Number(load.reading().isOverloaded),
    },
    {
      name: "bursar_accept_wait_seconds",
      help: "Time that the oldest request has waited to be written.",
      kind: "gauge",
      read: () => load.reading().acceptWaitMs / 1000,
    },
  ];
}
