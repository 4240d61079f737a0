import type { Scope } from "@bursar/protocol";

/** Who a request comes from, as proven by its access token. */
export interface Principal {
  tenantId: string;
  clientId: string;
  tokenId: string;
  /** What the token and the client both allow. */
  scopes: ReadonlySet<Scope>;
}
