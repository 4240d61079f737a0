import { Counter, Gauge, type Registry } from "prom-client";
import type { LoadGauge } from "../../app/load/load-gauge.js";
import type { AddressQuota } from "../../app/quotas/address-quota.js";
import type { QuotaKeeper } from "../../app/quotas/quota-keeper.js";

export interface LimitMetricsSources {
  quotas: Pick<QuotaKeeper, "counts">;
  addresses: Pick<AddressQuota, "counts">;
  load: Pick<LoadGauge, "reading">;
}

/** What is counted where it happens, shown when somebody looks. How many requests were refused is in `bursar_errors_total`. */
export function addLimitMetrics(registry: Registry, { quotas, addresses, load }: LimitMetricsSources): void {
  const registers = [registry];
  const follow = (name: string, help: string, read: () => number) =>
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  const show = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  follow(
    "bursar_quota_reservations_total",
    "Statements that took tokens from the shared buckets.",
    () => quotas.counts.reservations,
  );
  follow(
    "bursar_quota_reservations_unanswered_total",
    "Those that were not answered in time; the process then counts on its own.",
    () => quotas.counts.unanswered,
  );
  follow(
    "bursar_address_refusals_total",
    "Requests without a good token, or to /oauth, that were refused because of their address.",
    () => addresses.counts.refused,
  );
  show("bursar_overloaded", "1 while new work is refused.", () => Number(load.reading().isOverloaded));
  show(
    "bursar_accept_wait_seconds",
    "How long the oldest request has been waiting to be written.",
    () => load.reading().acceptWaitMs / 1000,
  );
}
