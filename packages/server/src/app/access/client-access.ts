import type { FreshCache } from "../../runtime/fresh-cache.js";
import type { ApiClient } from "./client.js";

/** What must be known of a client to let its requests in. */
export interface ClientAccess {
  client: ApiClient | undefined;
  revokedTokenIds: ReadonlySet<string>;
}

/** By the client's id. */
export type ClientAccessCache = FreshCache<ClientAccess>;
