import type { Scope } from "@bursar/protocol";
import type { ApiClient } from "./client.js";

/** An access token lives for 15 minutes; there is no refresh token, a client asks again. */
export const tokenLifetimeSeconds = 900;

/** What a token says, once it has been verified. */
export interface TokenClaims {
  tenantId: string;
  clientId: string;
  tokenId: string;
  scopes: readonly Scope[];
  issuedAtMs: number;
  expiresAtMs: number;
}

export type TokenFault = "invalid" | "expired";

/** Signs and verifies tokens with keys that only it knows. */
export interface TokenSigner {
  sign: (claims: TokenClaims) => Promise<string>;
  verify: (token: string) => Promise<TokenClaims | TokenFault>;
}

export interface RevocationStore {
  revokeToken: (
    client: Pick<ApiClient, "tenantId" | "id">,
    tokenId: string,
    expiresAt: Date,
  ) => Promise<void>;
  /** The tokens of a client that were revoked and have not expired by themselves. */
  listRevokedTokens: (client: Pick<ApiClient, "tenantId" | "id">) => Promise<string[]>;
}
