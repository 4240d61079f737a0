import { showId } from "@bursar/protocol";
import type { AuditRecorder } from "../audit/audit-recorder.js";
import type { AccessUseCases, RequestOrigin } from "./access-use-cases.js";
import type { ClientProof, ClientRefusal } from "./authenticate-client.js";
import type { ApiClient } from "./client.js";
import type { Issued } from "./issue-token.js";
import { isOAuthFault, type OAuthFault } from "./oauth-fault.js";
import type { TokenClaims } from "./tokens.js";

export interface TokenEndpointDeps {
  authenticateClient: (proof: ClientProof, address: string) => Promise<ApiClient | ClientRefusal>;
  issue: (client: ApiClient, scope: string | undefined) => Promise<Issued | OAuthFault>;
  revoke: (caller: ApiClient, token: string) => Promise<TokenClaims | OAuthFault | undefined>;
  introspect: (caller: ApiClient, token: string, address: string) => Promise<TokenClaims | undefined>;
  /** 0 where the client's quota lets it; else how many seconds to wait. */
  spend: (client: ApiClient) => number | Promise<number>;
  audit: AuditRecorder;
  now: () => number;
}

/** The three things that a client can do with tokens. Each begins with proving who it is, and is written down. */
export function createTokenEndpoints(
  deps: TokenEndpointDeps,
): Pick<AccessUseCases, "requestToken" | "revokeToken" | "introspectToken"> {
  async function asClient<T>(
    action: string,
    proof: ClientProof,
    origin: RequestOrigin,
    act: (client: ApiClient) => Promise<T | OAuthFault>,
  ): Promise<T | OAuthFault> {
    const client = await deps.authenticateClient(proof, origin.address);
    const result = isOAuthFault(client)
      ? client
      : ((await refuseBeyondQuota(action, client)) ?? (await act(client)));
    const known = isOAuthFault(client) ? { claimed: client.claimed } : { proven: client };
    if (isOAuthFault(result)) record(action, known, origin, undefined, result);
    else if (action !== "token.introspect") record(action, known, origin, tokenIdOf(result), undefined);
    return result;
  }

  /** Whoever wants to end a token is never told to wait. */
  async function refuseBeyondQuota(action: string, client: ApiClient): Promise<OAuthFault | undefined> {
    const waitSeconds = action === "token.revoke" ? 0 : await deps.spend(client);
    if (waitSeconds === 0) return undefined;
    return { fault: "slow_down", description: "The quota is used up.", retryAfterSeconds: waitSeconds };
  }

  function record(
    action: string,
    { proven, claimed }: { proven?: ApiClient; claimed?: ApiClient | undefined },
    origin: RequestOrigin,
    tokenId: string | undefined,
    fault: OAuthFault | undefined,
  ) {
    deps.audit.record({
      // An attempt on a client that exists is for its tenant to see, though nobody has proven to be that client.
      tenantId: (proven ?? claimed)?.tenantId,
      occurredAt: new Date(deps.now()),
      actor: proven === undefined ? "anonymous" : "client",
      clientId: proven?.id ?? null,
      tokenId: tokenId ?? null,
      action,
      object: claimed === undefined ? null : showId("cli", claimed.id),
      outcome: fault === undefined ? "succeeded" : "refused",
      code: fault?.fault ?? null,
      repeated: 1,
      ...origin,
    });
  }

  return {
    requestToken: (proof, scope, origin) =>
      asClient("token.issue", proof, origin, (client) => deps.issue(client, scope)),
    revokeToken: async (proof, token, origin) => {
      const result = await asClient("token.revoke", proof, origin, (client) => deps.revoke(client, token));
      return isOAuthFault(result) ? result : undefined;
    },
    introspectToken: (proof, token, origin) =>
      asClient("token.introspect", proof, origin, (client) => deps.introspect(client, token, origin.address)),
  };
}

/** The token that an act was about, where it was about one. */
function tokenIdOf(result: Issued | TokenClaims | unknown): string | undefined {
  if (typeof result !== "object" || result === null) return undefined;
  if ("claims" in result) return (result as Issued).claims.tokenId;
  return "tokenId" in result ? (result as TokenClaims).tokenId : undefined;
}
