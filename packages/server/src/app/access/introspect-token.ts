import { isRefused } from "../requests/refused.js";
import type { RequestAuthenticator } from "./authenticate-request.js";
import type { ApiClient } from "./client.js";
import type { TokenClaims, TokenSigner } from "./tokens.js";

export interface IntrospectTokenDeps {
  tokens: TokenSigner;
  authenticator: RequestAuthenticator;
}

/** What a token says, if it would be let in now (RFC 7662). A client learns of its own tenant's tokens only. */
export function createTokenIntrospector({ tokens, authenticator }: IntrospectTokenDeps) {
  return async (caller: ApiClient, token: string, address: string): Promise<TokenClaims | undefined> => {
    const claims = await tokens.verify(token);
    if (claims === "invalid" || claims === "expired" || claims.tenantId !== caller.tenantId) return undefined;
    const authenticated = await authenticator.authenticate(`Bearer ${token}`, { ip: address });
    if (isRefused(authenticated)) return undefined;
    return { ...claims, scopes: [...authenticated.principal.scopes] };
  };
}
