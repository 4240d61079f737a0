import type { QuotaClass } from "@bursar/protocol";
import type { Allowance } from "./allowance.js";
import type { ClientQuotas } from "./client-quotas.js";

/** One client's traffic in this process: its remaining quotas, and what it has open. */
export interface ClientTraffic extends BucketKey {
  tenant: TenantTraffic;
  /** The quotas that the allowances were made from. */
  overrides: ClientQuotas;
  allowances: Allowances;
  requestsInFlight: number;
  connections: number;
}

/** The traffic of all clients of a tenant in this process. */
export interface TenantTraffic extends BucketKey {
  allowances: Allowances;
  heavy: HeavyRequests;
  /** The clients that this process keeps. */
  clientCount: number;
}

/** The heavy requests of a tenant: the number of those in progress, and what starts those that wait. */
interface HeavyRequests {
  inProgress: number;
  waiting: Set<() => void>;
}

export type Allowances = Readonly<Record<QuotaClass, Allowance>>;

/** Whose bucket it is. */
export interface BucketKey {
  tenantId: string;
  clientId: string;
}
