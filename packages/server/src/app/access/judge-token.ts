import type { Scope } from "@bursar/protocol";
import { type ApiClient, type ClientAccess, isLive } from "../clients/client.js";
import type { Authenticated, TokenRefusal } from "./authenticate-request.js";
import type { TokenClaims } from "./tokens.js";

/** Judges a token whose signature was valid by the state of its client. */
export function judgeToken(
  claims: TokenClaims,
  { client, revokedTokenIds, isSuspended }: ClientAccess,
  nowMs: number,
): Authenticated | TokenRefusal {
  if (client === undefined || client.tenantId !== claims.tenantId) return { refused: "TOKEN_INVALID" };
  if (isSuspended) return { refused: "TENANT_SUSPENDED", claims };
  const isEnded =
    (client.disabledAt !== null && claims.issuedAtMs < client.disabledAt.getTime()) ||
    !isCredentialLive(client, claims, nowMs) ||
    // A session that has ended is recorded like a token that was revoked.
    (claims.sessionId !== undefined && revokedTokenIds.has(claims.sessionId));
  if (client.state !== "active" || isEnded || revokedTokenIds.has(claims.tokenId))
    return { refused: "TOKEN_REVOKED", claims };
  const scopes = new Set<Scope>(claims.scopes.filter((scope) => client.scopes.includes(scope)));
  const { tenantId, clientId, tokenId, sessionId } = claims;
  return { principal: { tenantId, clientId, tokenId, sessionId, scopes }, client, claims };
}

/** Whether the client still has the secret or key that a token was issued for. Removing it ends the token. */
function isCredentialLive(
  { secrets, keys, resetAt }: ApiClient,
  { credentialId, issuedAtMs }: TokenClaims,
  nowMs: number,
): boolean {
  // A token of an earlier version names no credential.
  if (credentialId === undefined) return resetAt === null || issuedAtMs >= resetAt.getTime();
  const credential =
    secrets.find(({ id }) => id === credentialId) ?? keys.find(({ id }) => id === credentialId);
  return credential !== undefined && isLive(credential, nowMs);
}
