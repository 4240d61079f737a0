import type { QuotaClass } from "@bursar/protocol";
import type { Allowance } from "./allowance.js";
import type { ClientQuotas } from "./client-quotas.js";

/** What one client is doing in this process: what it may still ask for, and what it has open. */
export interface ClientTraffic {
  tenantId: string;
  clientId: string;
  /** What the allowances were made from. */
  overrides: ClientQuotas;
  allowances: Readonly<Record<QuotaClass, Allowance>>;
  requestsInFlight: number;
  connections: number;
}
