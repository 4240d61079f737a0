import type { Quota } from "@bursar/domain";
import type { QuotaClass } from "@bursar/protocol";

/** The buckets that all processes share. */
export interface QuotaStore {
  /** Takes tokens for each, as far as there are any; a negative number gives back. The answers are in the order of the requests. */
  reserve: (requests: readonly Reservation[]) => Promise<Reserved[]>;
}

export interface Reservation {
  tenantId: string;
  clientId: string;
  quotaClass: QuotaClass;
  quota: Quota;
  wanted: number;
}

interface Reserved {
  granted: number;
  /** What the bucket holds afterwards, for the others and for later. */
  remaining: number;
}
