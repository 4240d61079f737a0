import { isScope, type Scope, showId } from "@bursar/protocol";
import type { AuditRecorder } from "../audit/audit-recorder.js";
import type { ApiClient, ClientAccessCache } from "../clients/client.js";
import { isRefused } from "../requests/refused.js";
import {
  type ClientProof,
  type ClientRefusal,
  isOAuthFault,
  type OAuthFault,
  type ProvenClient,
} from "./authenticate-client.js";
import type { RequestAuthenticator } from "./authenticate-request.js";
import { type RevocationStore, type TokenClaims, type TokenSigner, tokenLifetimeSeconds } from "./tokens.js";

/** Issues, revokes and introspects access tokens. Each call authenticates the client first and is written to the audit log. */
export interface OAuthService {
  /** Issues a token for the requested scopes, or for all scopes of the client. */
  requestToken: (
    proof: ClientProof,
    scope: string | undefined,
    origin: RequestOrigin,
  ) => Promise<Issued | OAuthFault>;
  /**
   * Revokes a token (RFC 7009). An invalid token needs no revocation, so that is a success too; a token of another client is
   * refused.
   */
  revokeToken: (proof: ClientProof, token: string, origin: RequestOrigin) => Promise<OAuthFault | undefined>;
  /** The claims of a token that is valid now (RFC 7662). A client can only introspect tokens of its own tenant. */
  introspectToken: (
    proof: ClientProof,
    token: string,
    origin: RequestOrigin,
  ) => Promise<TokenClaims | OAuthFault | undefined>;
}

/** The origin of a request to an OAuth endpoint. */
interface RequestOrigin {
  requestId: string;
  address: string;
}

interface Issued {
  token: string;
  claims: TokenClaims;
}

export interface OAuthServiceDeps {
  authenticateClient: (proof: ClientProof, address: string) => Promise<ProvenClient | ClientRefusal>;
  tokens: TokenSigner;
  revocations: RevocationStore;
  access: ClientAccessCache;
  authenticator: RequestAuthenticator;
  /** Takes a token of the client's quota: 0 if there is one, otherwise the number of seconds to wait. */
  takeQuota: (client: ApiClient) => number | Promise<number>;
  /** Whether a tenant is suspended: then its clients get no tokens. */
  isSuspended: (tenantId: string) => Promise<boolean>;
  audit: AuditRecorder;
  newUuid: () => string;
  now: () => number;
}

export function createOAuthService(deps: OAuthServiceDeps): OAuthService {
  async function asClient<T>(
    action: string,
    proof: ClientProof,
    origin: RequestOrigin,
    act: (client: ProvenClient) => Promise<T | OAuthFault>,
  ): Promise<T | OAuthFault> {
    const client = await deps.authenticateClient(proof, origin.address);
    const result = isOAuthFault(client)
      ? client
      : ((action === "token.revoke" ? undefined : await refuseBeyondQuota(client)) ?? (await act(client)));
    const known = isOAuthFault(client) ? { claimed: client.claimed } : { proven: client };
    if (isOAuthFault(result)) record(action, known, origin, undefined, result);
    else if (action !== "token.introspect" && result !== undefined)
      record(action, known, origin, tokenIdOf(result), undefined);
    return result;
  }

  async function refuseBeyondQuota(client: ApiClient): Promise<OAuthFault | undefined> {
    const waitSeconds = await deps.takeQuota(client);
    if (waitSeconds === 0) return undefined;
    return { fault: "slow_down", description: "The quota is exhausted.", retryAfterSeconds: waitSeconds };
  }

  function record(
    action: string,
    { proven, claimed }: { proven?: ApiClient; claimed?: ApiClient | undefined },
    origin: RequestOrigin,
    tokenId: string | undefined,
    fault: OAuthFault | undefined,
  ) {
    deps.audit.record({
      // A failed attempt on an existing client is recorded in the log of its tenant, although the caller is not authenticated.
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
      asClient("token.issue", proof, origin, (client) => issueToken(deps, client, scope)),
    revokeToken: async (proof, token, origin) => {
      // A token that is valid can always be revoked: there are no more of them than the quota has allowed. What revokes nothing is limited.
      const result = await asClient(
        "token.revoke",
        proof,
        origin,
        async (client) => (await revokeToken(deps, client, token)) ?? (await refuseBeyondQuota(client)),
      );
      return isOAuthFault(result) ? result : undefined;
    },
    introspectToken: (proof, token, origin) =>
      asClient("token.introspect", proof, origin, (client) =>
        introspectToken(deps, client, token, origin.address),
      ),
  };
}

async function issueToken(
  { tokens, isSuspended, newUuid, now }: OAuthServiceDeps,
  client: ProvenClient,
  requestedScope: string | undefined,
): Promise<Issued | OAuthFault> {
  if (await isSuspended(client.tenantId))
    return { fault: "unauthorized_client", description: "The tenant is suspended." };
  const scopes = chooseScopes(client, requestedScope);
  if (scopes === undefined)
    return { fault: "invalid_scope", description: "The client does not have all of the requested scopes." };
  // A JWT counts whole seconds. The time is never before the client was last disabled, because older tokens are invalid.
  const issuedAtMs = Math.max(
    Math.floor(now() / 1000) * 1000,
    Math.ceil((client.disabledAt?.getTime() ?? 0) / 1000) * 1000,
  );
  const claims: TokenClaims = {
    tenantId: client.tenantId,
    clientId: client.id,
    tokenId: newUuid(),
    credentialId: client.credentialId,
    scopes,
    issuedAtMs,
    expiresAtMs: issuedAtMs + tokenLifetimeSeconds * 1000,
  };
  return { token: await tokens.sign(claims), claims };
}

function chooseScopes(client: ApiClient, requested: string | undefined): readonly Scope[] | undefined {
  if (requested === undefined || requested === "") return client.scopes;
  const names = [...new Set(requested.split(" "))];
  const scopes = names.filter(isScope).filter((scope) => client.scopes.includes(scope));
  return scopes.length === names.length ? scopes : undefined;
}

/** Undefined if there was nothing to revoke. */
async function revokeToken(
  { tokens, revocations, access }: OAuthServiceDeps,
  caller: ApiClient,
  token: string,
): Promise<TokenClaims | OAuthFault | undefined> {
  const claims = await tokens.verify(token);
  if (claims === "invalid" || claims === "expired") return undefined;
  if (claims.clientId !== caller.id)
    return { fault: "unauthorized_client", description: "The token was issued to another client." };
  const isNew = await revocations.revokeToken(caller, claims.tokenId, new Date(claims.expiresAtMs));
  access.forget(caller.id);
  return isNew ? claims : undefined;
}

async function introspectToken(
  { tokens, authenticator }: OAuthServiceDeps,
  caller: ApiClient,
  token: string,
  address: string,
): Promise<TokenClaims | undefined> {
  const claims = await tokens.verify(token);
  if (claims === "invalid" || claims === "expired" || claims.tenantId !== caller.tenantId) return undefined;
  const authenticated = await authenticator.authenticate(`Bearer ${token}`, { ip: address });
  if (isRefused(authenticated)) return undefined;
  return { ...claims, scopes: [...authenticated.principal.scopes] };
}

/** The id of the token that was issued or revoked, if there is one. */
function tokenIdOf(result: Issued | TokenClaims | unknown): string | undefined {
  if (typeof result !== "object" || result === null) return undefined;
  if ("claims" in result) return (result as Issued).claims.tokenId;
  return "tokenId" in result ? (result as TokenClaims).tokenId : undefined;
}
