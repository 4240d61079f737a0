import { fullBucket } from "@bursar/domain";
import { type QuotaClass, quotaClasses } from "@bursar/protocol";
import type { Timers } from "../../runtime/loops/timers.js";
import type { ApiClient } from "../clients/client.js";
import { type Allowance, createAllowance } from "./allowance.js";
import type { ClientQuotas, Quotas } from "./client-quotas.js";
import {
  answerTimeoutMs,
  batchMax,
  createTokenReserver,
  type QuotaCounts,
  type QuotaStore,
  type Reservation,
  toReservation,
} from "./token-reserver.js";
import {
  type Allowances,
  type BucketKey,
  type ClientTraffic,
  noRequests,
  type RequestCounts,
  stopReserve,
  type TenantTraffic,
} from "./traffic.js";

/**
 * Keeps the quotas of all clients in this process. Tokens are reserved from the shared buckets, for many clients in one statement. If
 * the database does not answer in time, the process continues with its own copy of each bucket: every request needs the same database
 * and is answered with 503, whereas a 429 would be wrong.
 */
export interface QuotaKeeper {
  /** The client's traffic. A map look-up, because every request needs it. */
  of: (client: ApiClient) => ClientTraffic;
  counts: QuotaCounts;
  /** The quotas that apply to a client: its own, and the defaults. */
  quotasOf: (client: Pick<ApiClient, "quotas">) => Quotas;
  /** Takes what the clients have requested since the last call. */
  takeRequestCounts: () => CountedClient[];
  close: () => Promise<void>;
}

export interface CountedClient extends BucketKey {
  counts: RequestCounts;
}

export interface QuotaKeeperDeps {
  store: QuotaStore;
  /** The quotas of a client that has none of its own. */
  defaults: Quotas;
  /** The quotas of a tenant: what all of its clients share. A client's own quota raises it if it is larger. */
  tenantDefaults: Quotas;
  monotonicMs: () => number;
  timers: Timers;
}

const sweepIntervalMs = 5000;
const idleMs = 10_000;
const clientsMax = 10_000;

/** The client id of the buckets of a tenant as a whole. */
const wholeTenant = "00000000-0000-0000-0000-000000000000";

export function createQuotaKeeper(deps: QuotaKeeperDeps): QuotaKeeper {
  const { store, defaults, tenantDefaults, monotonicMs, timers } = deps;
  const clients = new Map<string, ClientTraffic>();
  const tenants = new Map<string, TenantTraffic>();
  const { request, counts } = createTokenReserver(deps);
  /** What clients have requested that were forgotten since. */
  let forgotten: CountedClient[] = [];

  function createAllowances(key: BucketKey, prefix: string, quotas: Quotas): Allowances {
    return Object.fromEntries(
      quotaClasses.map((quotaClass) => {
        const allowance: Allowance = createAllowance(prefix + quotaClass, quotas[quotaClass], () =>
          request({ key, quotaClass, allowance }),
        );
        return [quotaClass, allowance];
      }),
    ) as Record<QuotaClass, Allowance>;
  }

  function findTenant(tenantId: string): TenantTraffic {
    const known = tenants.get(tenantId);
    if (known !== undefined) return known;
    const key = { tenantId, clientId: wholeTenant };
    const allowances = createAllowances(key, "tenant-", tenantDefaults);
    const made = {
      ...key,
      allowances,
      clientCount: 0,
    };
    tenants.set(tenantId, made);
    return made;
  }

  function create({ id: clientId, tenantId, quotas }: ApiClient): ClientTraffic {
    const key = { tenantId, clientId };
    const tenant = findTenant(tenantId);
    tenant.clientCount += 1;
    raiseTenant(tenant, quotas);
    const allowances = createAllowances(key, "", { ...defaults, ...quotas });
    const reserve = fullBucket(stopReserve, monotonicMs());
    const open = { requestsInFlight: 0, connections: 0 };
    return { ...key, tenant, overrides: quotas, allowances, reserve, ...open, counts: noRequests() };
  }

  function retune(traffic: ClientTraffic, overrides: ClientQuotas): void {
    traffic.overrides = overrides;
    raiseTenant(traffic.tenant, overrides);
    for (const name of quotaClasses) traffic.allowances[name].retune(overrides[name] ?? defaults[name]);
  }

  /** A quota that the operator has given to one client is of no use if the tenant's is smaller. */
  function raiseTenant({ allowances }: TenantTraffic, overrides: ClientQuotas): void {
    for (const name of quotaClasses) {
      const own = overrides[name];
      if (own === undefined) continue;
      const { perSecond, burst } = allowances[name].quota();
      if (own.perSecond > perSecond || own.burst > burst)
        allowances[name].retune({
          perSecond: Math.max(perSecond, own.perSecond),
          burst: Math.max(burst, own.burst),
        });
    }
  }

  function forget(traffic: ClientTraffic): void {
    clients.delete(traffic.clientId);
    traffic.tenant.clientCount -= 1;
    if (forgotten.length < clientsMax) forgotten.push(...takeCounts(traffic));
  }

  function takeCounts(traffic: ClientTraffic): CountedClient[] {
    const { tenantId, clientId, counts: taken } = traffic;
    if (taken.requests === 0 && taken.cost === 0) return [];
    traffic.counts = noRequests();
    return [{ tenantId, clientId, counts: taken }];
  }

  /** Takes unused tokens back from what is idle, and tells whether all of it is. */
  function collectUnused(
    key: BucketKey,
    allowances: Allowances,
    idleSinceMs: number,
    unused: Reservation[],
  ): boolean {
    let isIdle = true;
    for (const quotaClass of quotaClasses) {
      const allowance = allowances[quotaClass];
      const tokens = allowance.surrender(idleSinceMs);
      if (tokens > 0)
        unused.push(toReservation({ key, quotaClass, allowance }, { wanted: -tokens, owed: 0 }));
      isIdle &&= allowance.isIdle(idleSinceMs);
    }
    return isIdle;
  }

  /** Returns unused tokens to the shared buckets, and forgets clients that have nothing open. */
  async function sweep(idleSinceMs: number): Promise<void> {
    const unused: Reservation[] = [];
    for (const traffic of clients.values()) {
      const isIdle = collectUnused(traffic, traffic.allowances, idleSinceMs, unused);
      if (isIdle && traffic.requestsInFlight === 0 && traffic.connections === 0) forget(traffic);
    }
    for (const tenant of tenants.values()) {
      const isIdle = collectUnused(tenant, tenant.allowances, idleSinceMs, unused);
      if (isIdle && tenant.clientCount === 0) tenants.delete(tenant.tenantId);
    }
    for (let start = 0; start < unused.length; start += batchMax)
      // Tokens that cannot be returned are lost.
      await store.reserve(unused.slice(start, start + batchMax)).catch(() => undefined);
  }

  let cancelSweep = scheduleSweep();
  function scheduleSweep(): () => void {
    return timers.after(sweepIntervalMs, () => {
      cancelSweep = scheduleSweep();
      void sweep(monotonicMs() - idleMs);
    });
  }

  return {
    counts,
    quotasOf: ({ quotas }) => ({ ...defaults, ...quotas }),
    takeRequestCounts: () => {
      const taken = [...forgotten, ...[...clients.values()].flatMap(takeCounts)];
      forgotten = [];
      return taken;
    },
    of: (client) => {
      const known = clients.get(client.id);
      if (known !== undefined) {
        if (known.overrides !== client.quotas) retune(known, client.quotas);
        return known;
      }
      const made = create(client);
      clients.set(client.id, made);
      // A client that is forgotten here loses its slice, not its quota: the shared bucket knows what has been used.
      if (clients.size > clientsMax) forget(clients.values().next().value as ClientTraffic);
      return made;
    },
    close: async () => {
      cancelSweep();
      const inTime = new Promise<void>((resolve) => timers.after(answerTimeoutMs, resolve));
      await Promise.race([sweep(Number.POSITIVE_INFINITY), inTime]);
    },
  };
}
