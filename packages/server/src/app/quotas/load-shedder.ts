import { createRecentTenants } from "../../runtime/concurrency/recent-tenants.js";
import type { LoadGauge } from "../../runtime/load-gauge.js";

/**
 * Decides whose work is refused while the service is overloaded: that of the tenants that use the most. Each tenant's recent cost is a sum
 * that decays by half every five seconds. A tenant at or above the average of all active tenants is refused first, so there is always
 * somebody to refuse, and a tenant with little use is refused only in a severe overload, when everybody is. Deliveries count for their
 * tenant but not in the average: they cannot be refused, and those of one tenant would raise it above what another causes by requests.
 */
export interface LoadShedder {
  /** Whether new work of this tenant is refused. */
  sheds: (tenantId: string) => boolean;
  /** Counts the cost of an admitted request. */
  count: (tenantId: string, cost: number) => void;
  /** Counts the cost of a delivery, which is no request of the tenant. */
  countDelivery: (tenantId: string, cost: number) => void;
  /**
   * How long work that can wait should rest for this tenant, as a multiple of how long it has worked: not at all unless another tenant made a
   * request just now and this one is among those that use the most; otherwise as long, and longer the later the event loop is.
   */
  restPerWork: (tenantId: string) => number;
}

export interface LoadShedderDeps {
  load: Pick<LoadGauge, "reading">;
  monotonicMs: () => number;
}

const halfLifeMs = 5000;
/** A tenant that has used less than this recently is not active. */
const activeCost = 0.5;
const sweepIntervalMs = 5000;
/** Of tenants with the same use at least one is at the average, in spite of rounding. */
const rounding = 1e-9;
/** Tenants beyond it are not counted until the next sweep. */
const tenantsMax = 100_000;

/** With a delay of 4 ms, as of a process that is always busy, such work has a sixth of the time, and never less than a ninth. */
const restPerLateMs = 1;
const restPerWorkMax = 8;

export function createLoadShedder({ load, monotonicMs }: LoadShedderDeps): LoadShedder {
  /** In units of the time at which they were last scaled: a cost that is added later weighs more, instead of all others less. */
  const requests = new Map<string, number>();
  const deliveries = new Map<string, number>();
  let totalOfRequests = 0;
  let scaledAtMs = monotonicMs();
  const recent = createRecentTenants(monotonicMs);

  const weightAt = (nowMs: number) => 2 ** ((nowMs - scaledAtMs) / halfLifeMs);

  /** Scales the sums to the present, and forgets the tenants that are not active. */
  function sweep(nowMs: number): void {
    const weight = weightAt(nowMs);
    for (const costs of [requests, deliveries])
      for (const [tenantId, cost] of costs) {
        const scaled = cost / weight;
        if (scaled < activeCost) costs.delete(tenantId);
        else costs.set(tenantId, scaled);
      }
    totalOfRequests = 0;
    for (const cost of requests.values()) totalOfRequests += cost;
    scaledAtMs = nowMs;
  }

  /** Returns what was added, in the units of the sums. */
  function add(costs: Map<string, number>, tenantId: string, cost: number, nowMs: number): number {
    if (nowMs - scaledAtMs >= sweepIntervalMs) sweep(nowMs);
    const known = costs.get(tenantId);
    if (known === undefined && costs.size >= tenantsMax) return 0;
    const added = cost * weightAt(nowMs);
    costs.set(tenantId, (known ?? 0) + added);
    return added;
  }

  /** Whether it has used as much as the average of those that make requests. One that is not counted yet has used nothing. */
  function isAmongTheFirst(tenantId: string): boolean {
    const cost = (requests.get(tenantId) ?? 0) + (deliveries.get(tenantId) ?? 0);
    return cost > 0 && cost * requests.size * (1 + rounding) >= totalOfRequests;
  }

  return {
    sheds: (tenantId) => {
      const { isOverloaded, isSevere } = load.reading();
      if (!isOverloaded) return false;
      return isSevere || isAmongTheFirst(tenantId);
    },
    count: (tenantId, cost) => {
      const nowMs = monotonicMs();
      recent.note(tenantId);
      const added = add(requests, tenantId, cost, nowMs);
      totalOfRequests += added;
    },
    countDelivery: (tenantId, cost) => void add(deliveries, tenantId, cost, monotonicMs()),
    restPerWork: (tenantId) => {
      if (!recent.hasOthers(tenantId) || !isAmongTheFirst(tenantId)) return 0;
      return Math.min(1 + load.reading().eventLoopDelayMs * restPerLateMs, restPerWorkMax);
    },
  };
}
