import type { ApiClient } from "./client.js";
import type { ClientAccessCache } from "./client-access.js";
import type { OAuthFault } from "./oauth-fault.js";
import type { RevocationStore, TokenClaims, TokenSigner } from "./tokens.js";

export interface RevokeTokenDeps {
  tokens: TokenSigner;
  revocations: RevocationStore;
  clients: ClientAccessCache;
}

/**
 * Ends a token before its time (RFC 7009). A token that is not valid needs no end, so that is a success too; a token of
 * another client is refused.
 */
export function createTokenRevoker({ tokens, revocations, clients }: RevokeTokenDeps) {
  return async (caller: ApiClient, token: string): Promise<TokenClaims | OAuthFault | undefined> => {
    const claims = await tokens.verify(token);
    if (claims === "invalid" || claims === "expired") return undefined;
    if (claims.clientId !== caller.id) {
      return { fault: "unauthorized_client", description: "The token was issued to another client." };
    }
    await revocations.revokeToken(caller, claims.tokenId, new Date(claims.expiresAtMs));
    clients.forget(caller.id);
    return claims;
  };
}
