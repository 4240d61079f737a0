import { isScope, type Scope } from "@bursar/protocol";
import type { ApiClient } from "./client.js";
import type { OAuthFault } from "./oauth-fault.js";
import { type TokenClaims, type TokenSigner, tokenLifetimeSeconds } from "./tokens.js";

export interface IssueTokenDeps {
  tokens: TokenSigner;
  newUuid: () => string;
  now: () => number;
}

export interface Issued {
  token: string;
  claims: TokenClaims;
}

/** Gives a client a token for the scopes that it asks for, or for all of its own. */
export function createTokenIssuer({ tokens, newUuid, now }: IssueTokenDeps) {
  return async (client: ApiClient, requestedScope: string | undefined): Promise<Issued | OAuthFault> => {
    const scopes = chooseScopes(client, requestedScope);
    if (scopes === undefined) {
      return {
        fault: "invalid_scope",
        description: "The client does not have every scope that was asked for.",
      };
    }
    // Whole seconds, because a JWT knows no others; and never before the client was last disabled, which ends what is older.
    const issuedAtMs = Math.max(
      Math.floor(now() / 1000) * 1000,
      Math.ceil((client.disabledAt?.getTime() ?? 0) / 1000) * 1000,
    );
    const claims: TokenClaims = {
      tenantId: client.tenantId,
      clientId: client.id,
      tokenId: newUuid(),
      scopes,
      issuedAtMs,
      expiresAtMs: issuedAtMs + tokenLifetimeSeconds * 1000,
    };
    return { token: await tokens.sign(claims), claims };
  };
}

function chooseScopes(client: ApiClient, requested: string | undefined): readonly Scope[] | undefined {
  if (requested === undefined || requested === "") return client.scopes;
  const names = [...new Set(requested.split(" "))];
  const scopes = names.filter(isScope).filter((scope) => client.scopes.includes(scope));
  return scopes.length === names.length ? scopes : undefined;
}
