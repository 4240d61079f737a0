import type { AuditRecorder } from "../audit/audit-recorder.js";
import type { UseCases, Whence } from "../use-cases.js";
import type { ClientProof } from "./authenticate-client.js";
import type { ApiClient } from "./client.js";
import type { Issued } from "./issue-token.js";
import { isOAuthFault, type OAuthFault } from "./oauth-fault.js";
import type { TokenClaims } from "./tokens.js";

export interface TokenEndpointDeps {
  authenticateClient: (proof: ClientProof, address: string) => Promise<ApiClient | OAuthFault>;
  issue: (client: ApiClient, scope: string | undefined) => Promise<Issued | OAuthFault>;
  revoke: (caller: ApiClient, token: string) => Promise<TokenClaims | OAuthFault | undefined>;
  introspect: (caller: ApiClient, token: string) => Promise<TokenClaims | undefined>;
  audit: AuditRecorder;
  nowMs: () => number;
}

/** The three things that a client can do with tokens. Each begins with proving who it is, and is written down. */
export function createTokenEndpoints(
  deps: TokenEndpointDeps,
): Pick<UseCases, "requestToken" | "revokeToken" | "introspectToken"> {
  async function asClient<T>(
    action: string,
    proof: ClientProof,
    whence: Whence,
    act: (client: ApiClient) => Promise<T | OAuthFault>,
  ): Promise<T | OAuthFault> {
    const client = await deps.authenticateClient(proof, whence.address);
    const result = isOAuthFault(client) ? client : await act(client);
    const known = isOAuthFault(client) ? undefined : client;
    if (isOAuthFault(result)) record(action, known, whence, undefined, result);
    else if (action !== "token.introspect") record(action, known, whence, tokenIdOf(result), undefined);
    return result;
  }

  function record(
    action: string,
    client: ApiClient | undefined,
    whence: Whence,
    tokenId: string | undefined,
    fault: OAuthFault | undefined,
  ) {
    deps.audit.record({
      tenantId: client?.tenantId,
      occurredAt: new Date(deps.nowMs()),
      actor: client === undefined ? "anonymous" : "client",
      clientId: client?.id ?? null,
      tokenId: tokenId ?? null,
      action,
      object: null,
      outcome: fault === undefined ? "succeeded" : "refused",
      code: fault?.fault ?? null,
      repeated: 1,
      ...whence,
    });
  }

  return {
    requestToken: (proof, scope, whence) =>
      asClient("token.issue", proof, whence, (client) => deps.issue(client, scope)),
    revokeToken: async (proof, token, whence) => {
      const result = await asClient("token.revoke", proof, whence, (client) => deps.revoke(client, token));
      return isOAuthFault(result) ? result : undefined;
    },
    introspectToken: (proof, token, whence) =>
      asClient("token.introspect", proof, whence, (client) => deps.introspect(client, token)),
  };
}

/** The token that an act was about, where it was about one. */
function tokenIdOf(result: Issued | TokenClaims | unknown): string | undefined {
  if (typeof result !== "object" || result === null) return undefined;
  if ("claims" in result) return (result as Issued).claims.tokenId;
  return "tokenId" in result ? (result as TokenClaims).tokenId : undefined;
}
