import { isScope, readId, showId } from "@bursar/protocol";
import { errors, type JWTPayload, jwtVerify, SignJWT } from "jose";
import {
  type TokenClaims,
  type TokenFault,
  type TokenSigner,
  tokenLifetimeSeconds,
} from "../app/access/tokens.js";
import type { TokenKeyRing } from "./token-keys.js";

export interface TokenSignerOptions {
  keys: TokenKeyRing;
  /** The service's address: the issuer and the audience of the tokens. */
  issuer: string;
  now: () => number;
}

/** The tolerated difference between the clocks of two processes. */
const clockToleranceSeconds = 5;
const tokenType = "at+jwt";

/** Signs and verifies access tokens according to RFC 9068: JWTs of the type at+jwt, signed with Ed25519. */
export function createTokenSigner({ keys, issuer, now }: TokenSignerOptions): TokenSigner {
  async function sign(claims: TokenClaims): Promise<string> {
    const { kid, privateKey } = await keys.signingKey();
    const clientId = showId("cli", claims.clientId);
    return await new SignJWT({
      client_id: clientId,
      tenant_id: showId("tnt", claims.tenantId),
      scope: claims.scopes.join(" "),
      ...(claims.credentialId === undefined ? {} : { credential_id: claims.credentialId }),
      ...(claims.sessionId === undefined ? {} : { session_id: claims.sessionId }),
    })
      .setProtectedHeader({ alg: "EdDSA", typ: tokenType, kid })
      .setIssuer(issuer)
      .setAudience(issuer)
      .setSubject(clientId)
      .setJti(showId("tok", claims.tokenId))
      .setIssuedAt(claims.issuedAtMs / 1000)
      .setNotBefore(claims.issuedAtMs / 1000)
      .setExpirationTime(claims.expiresAtMs / 1000)
      .sign(privateKey);
  }

  async function verify(token: string): Promise<TokenClaims | TokenFault> {
    try {
      const { payload, protectedHeader } = await jwtVerify(token, async ({ kid }) => await keyFor(kid), {
        algorithms: ["EdDSA"],
        typ: tokenType,
        issuer,
        audience: issuer,
        clockTolerance: clockToleranceSeconds,
        currentDate: new Date(now()),
        maxTokenAge: tokenLifetimeSeconds + clockToleranceSeconds,
        requiredClaims: ["exp", "iat", "nbf", "jti", "sub", "client_id", "tenant_id", "scope"],
      });
      // The tolerance applies to tokens from the future, not to expired ones.
      if ((payload.exp ?? 0) * 1000 <= now()) return "expired";
      const claims = readClaims(payload);
      return claims === undefined ? "invalid" : { ...claims, keyId: protectedHeader.kid };
    } catch (error) {
      if (error instanceof errors.JWTExpired) return "expired";
      if (error instanceof errors.JOSEError) return "invalid";
      throw error;
    }
  }

  async function keyFor(kid: string | undefined) {
    const key = kid === undefined ? undefined : await keys.verifyingKey(kid);
    if (key === undefined) throw new errors.JWKSNoMatchingKey();
    return key.publicKey;
  }

  return {
    sign,
    verify,
    isKeyRecent: (keyId) => keyId !== undefined && keys.isRecent(keyId),
    hasKey: async (keyId) => (await keys.verifyingKey(keyId)) !== undefined,
  };
}

function readClaims(payload: JWTPayload): TokenClaims | undefined {
  const { client_id, tenant_id, scope, jti, iat, exp, credential_id, session_id } = payload;
  const clientId = readId("cli", String(client_id));
  const tenantId = readId("tnt", String(tenant_id));
  const tokenId = readId("tok", String(jti));
  if (
    clientId === undefined ||
    tenantId === undefined ||
    tokenId === undefined ||
    iat === undefined ||
    exp === undefined
  ) {
    return undefined;
  }
  const scopes = String(scope).split(" ").filter(isScope);
  const credentialId = typeof credential_id === "string" ? credential_id : undefined;
  return {
    clientId,
    tenantId,
    tokenId,
    credentialId,
    ...(typeof session_id === "string" ? { sessionId: session_id } : {}),
    scopes,
    issuedAtMs: iat * 1000,
    expiresAtMs: exp * 1000,
  };
}
