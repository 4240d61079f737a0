import type { LoadGauge } from "../../runtime/load-gauge.js";

/**
 * Decides whose work is refused while the service is overloaded: that of the tenants that use the most. Each tenant's recent cost is a sum
 * that decays by half every five seconds. A tenant at or above the average of all active tenants is refused first, so there is always
 * somebody to refuse, and a tenant with little use is refused only in a severe overload, when everybody is.
 */
export interface LoadShedder {
  /** Whether new work of this tenant is refused. */
  sheds: (tenantId: string) => boolean;
  /** Counts the cost of an admitted request. */
  count: (tenantId: string, cost: number) => void;
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

export function createLoadShedder({ load, monotonicMs }: LoadShedderDeps): LoadShedder {
  /** In units of the time at which they were last scaled: a cost that is added later weighs more, instead of all others less. */
  const costs = new Map<string, number>();
  let total = 0;
  let scaledAtMs = monotonicMs();

  const weightAt = (nowMs: number) => 2 ** ((nowMs - scaledAtMs) / halfLifeMs);

  /** Scales the sums to the present, and forgets the tenants that are not active. */
  function sweep(nowMs: number): void {
    const weight = weightAt(nowMs);
    total = 0;
    for (const [tenantId, cost] of costs) {
      const scaled = cost / weight;
      if (scaled < activeCost) costs.delete(tenantId);
      else {
        costs.set(tenantId, scaled);
        total += scaled;
      }
    }
    scaledAtMs = nowMs;
  }

  return {
    sheds: (tenantId) => {
      const { isOverloaded, isSevere } = load.reading();
      if (!isOverloaded) return false;
      // A tenant that is not counted yet has used nothing.
      return isSevere || (costs.get(tenantId) ?? 0) * costs.size * (1 + rounding) >= total;
    },
    count: (tenantId, cost) => {
      const nowMs = monotonicMs();
      if (nowMs - scaledAtMs >= sweepIntervalMs) sweep(nowMs);
      const known = costs.get(tenantId);
      if (known === undefined && costs.size >= tenantsMax) return;
      const added = cost * weightAt(nowMs);
      costs.set(tenantId, (known ?? 0) + added);
      total += added;
    },
  };
}
