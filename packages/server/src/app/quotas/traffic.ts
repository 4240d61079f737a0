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
