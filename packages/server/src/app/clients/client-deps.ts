import type { Lanes } from "../../runtime/keyed-mutex.js";
import type { ClientStore } from "../access/client.js";
import type { ClientAccessCache } from "../access/client-access.js";
import type { Quotas } from "../quotas/client-quotas.js";

/** What managing clients needs. */
export interface ClientDeps {
  clients: ClientStore;
  /** Changes of the same client wait for each other here. */
  changes: Lanes;
  access: ClientAccessCache;
  /** The service's own. */
  defaultQuotas: Quotas;
  newUuid: () => string;
  randomBytes: (count: number) => Uint8Array;
  now: () => number;
}
