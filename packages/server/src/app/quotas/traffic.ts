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
  /** Its heavy requests, from their heads until they are answered. */
  heavy: Turns;
  connections: number;
}

/** The traffic of all clients of a tenant in this process. */
export interface TenantTraffic extends BucketKey {
  allowances: Allowances;
  /** The heavy requests whose bodies are arriving or in memory. */
  heavyBodies: Turns;
  /** The heavy requests whose bodies have arrived, and which are served. */
  heavyWork: Turns;
  /** The clients that this process keeps. */
  clientCount: number;
}

/** Requests that take turns: the number of those in progress, and what starts those that wait. */
export interface Turns {
  inProgress: number;
  waiting: Set<() => void>;
}

export function noTurns(): Turns {
  return { inProgress: 0, waiting: new Set() };
}

export type Allowances = Readonly<Record<QuotaClass, Allowance>>;

/** Whose bucket it is. */
export interface BucketKey {
  tenantId: string;
  clientId: string;
}
