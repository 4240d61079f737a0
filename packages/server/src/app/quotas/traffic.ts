import type { Quota, TokenBucket } from "@bursar/domain";
import type { QuotaClass } from "@bursar/protocol";
import type { Allowance } from "./allowance.js";
import type { ClientQuotas } from "./client-quotas.js";

/** One client's traffic in this process: its remaining quotas, and what it has open. */
export interface ClientTraffic extends BucketKey {
  tenant: TenantTraffic;
  /** The quotas that the allowances were made from. */
  overrides: ClientQuotas;
  allowances: Allowances;
  /** Admits requests that can stop something while the tenant's quota is used up. */
  reserve: TokenBucket;
  requestsInFlight: number;
  connections: number;
  /** Since they were last taken to be written. */
  counts: RequestCounts;
}

/** The requests of a client, by their outcome, and the tokens of its quotas that they have cost. */
export interface RequestCounts {
  requests: number;
  /** Answered with a status of 4xx other than 429. */
  refused: number;
  rateLimited: number;
  /** Answered with a status of 5xx. */
  failed: number;
  cost: number;
}

export function noRequests(): RequestCounts {
  return { requests: 0, refused: 0, rateLimited: 0, failed: 0, cost: 0 };
}

/** Counts a request that was answered. A few additions, because every request needs them. */
export function countRequest({ counts }: Pick<ClientTraffic, "counts">, status: number): void {
  counts.requests += 1;
  if (status === 429) {
    counts.rateLimited += 1;
    return;
  }
  // What it costs beside its one token is charged when it is known.
  counts.cost += 1;
  if (status >= 500) counts.failed += 1;
  else if (status >= 400) counts.refused += 1;
}

/** The traffic of all clients of a tenant in this process. */
export interface TenantTraffic extends BucketKey {
  allowances: Allowances;
  /** The clients that this process keeps. */
  clientCount: number;
}

export type Allowances = Readonly<Record<QuotaClass, Allowance>>;

/** Whose bucket it is. */
export interface BucketKey {
  tenantId: string;
  clientId: string;
}

/** Of each client, in each process. */
export const stopReserve: Quota = { perSecond: 1, burst: 10 };
