import type { ClientStore } from "../access/client.js";
import type { ClientAccessCache } from "../access/client-access.js";

/** What managing clients needs. */
export interface ClientDeps {
  clients: ClientStore;
  access: ClientAccessCache;
  newUuid: () => string;
  randomBytes: (count: number) => Uint8Array;
  nowMs: () => number;
}
