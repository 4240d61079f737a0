import { createRecentTenants } from "../../runtime/concurrency/recent-tenants.js";
import type { LoadGauge } from "../../runtime/load-gauge.js";
import { heaviestFrom, type Use } from "./heaviest.js";

/**
 * Decides whose work is refused while the service is overloaded: that of the tenants that use the most. Each tenant's recent cost is a sum
 * that decays by half every five seconds. The tenants that together cause half of all requests are refused first, so there is always somebody
 * to refuse; one with little use is refused only in a severe overload, when everybody is. Deliveries count for the rank of their tenant, but
 * are no part of what is reduced: they cannot be refused, and those of one tenant would hide what another causes by requests.
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
   * request just now and this one is among those that cause half of everything, deliveries included; otherwise as long, and longer the later the event loop is.
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
/** With 100,000 tenants finding the heaviest takes 10 ms, so it is not done for each request. */
const rankIntervalMs = 500;
/** Tenants beyond it are not counted until the next sweep. */
const tenantsMax = 100_000;

/** With a delay of 4 ms, as of a process that is always busy, such work has a sixth of the time, and never less than a ninth. */
const restPerLateMs = 1;
const restPerWorkMax = 8;

export function createLoadShedder({ load, monotonicMs }: LoadShedderDeps): LoadShedder {
  /** In units of the time at which they were last scaled: a cost that is added later weighs more, instead of all others less. */
  const requests = new Map<string, number>();
  const deliveries = new Map<string, number>();
  let scaledAtMs = monotonicMs();
  /** From which cost a tenant is among the heaviest, by requests alone and with deliveries. */
  const heaviest = { ofRequests: 0, ofAll: 0 };
  let rankedAtMs = Number.NEGATIVE_INFINITY;
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
    scaledAtMs = nowMs;
    rankedAtMs = Number.NEGATIVE_INFINITY;
  }

  function add(costs: Map<string, number>, tenantId: string, cost: number): void {
    const nowMs = monotonicMs();
    if (nowMs - scaledAtMs >= sweepIntervalMs) sweep(nowMs);
    const known = costs.get(tenantId);
    if (known === undefined && costs.size >= tenantsMax) return;
    costs.set(tenantId, (known ?? 0) + cost * weightAt(nowMs));
  }

  const costOf = (tenantId: string) => (requests.get(tenantId) ?? 0) + (deliveries.get(tenantId) ?? 0);

  function* usesOf(kind: keyof typeof heaviest): Generator<Use> {
    for (const [tenantId, part] of requests) {
      const cost = costOf(tenantId);
      yield { cost, part: kind === "ofRequests" ? part : cost };
    }
    if (kind === "ofAll")
      for (const [tenantId, cost] of deliveries) if (!requests.has(tenantId)) yield { cost, part: cost };
  }

  /** A tenant that is not counted yet has used nothing. */
  function isHeaviest(tenantId: string, kind: keyof typeof heaviest): boolean {
    const nowMs = monotonicMs();
    if (nowMs - rankedAtMs >= rankIntervalMs) {
      heaviest.ofRequests = heaviestFrom(usesOf("ofRequests"));
      heaviest.ofAll = heaviestFrom(usesOf("ofAll"));
      rankedAtMs = nowMs;
    }
    const cost = costOf(tenantId);
    return cost > 0 && cost >= heaviest[kind];
  }

  return {
    sheds: (tenantId) => {
      const { isOverloaded, isSevere } = load.reading();
      if (!isOverloaded) return false;
      return isSevere || isHeaviest(tenantId, "ofRequests");
    },
    count: (tenantId, cost) => {
      recent.note(tenantId);
      add(requests, tenantId, cost);
    },
    countDelivery: (tenantId, cost) => add(deliveries, tenantId, cost),
    restPerWork: (tenantId) => {
      if (!recent.hasOthers(tenantId) || !isHeaviest(tenantId, "ofAll")) return 0;
      return Math.min(1 + load.reading().eventLoopDelayMs * restPerLateMs, restPerWorkMax);
    },
  };
}
