import type { Scope } from "@bursar/protocol";
import { addressBlock } from "../../runtime/address-block.js";
import { createBoundedGate } from "../../runtime/concurrency/bounded-gate.js";
import { createRecentCache } from "../../runtime/recent-cache.js";
import type { ApiClient, ClientAccess, ClientAccessCache } from "../clients/client.js";
import type { AddressQuota } from "../quotas/address-quota.js";
import type { Refused } from "../requests/refused.js";
import { judgeToken } from "./judge-token.js";
import type { TokenClaims, TokenSigner } from "./tokens.js";

/** The identity behind a request, as proven by its access token. */
export interface Principal {
  tenantId: string;
  clientId: string;
  tokenId: string;
  /** The session of a person that the token was issued for. */
  sessionId?: string | undefined;
  /** The scopes that both the token and the client have. */
  scopes: ReadonlySet<Scope>;
}

/** An authenticated request. */
export interface Authenticated {
  principal: Principal;
  client: ApiClient;
  claims: TokenClaims;
}

/** A refusal, with the token's claims if its signature was valid: for the audit log. */
export type TokenRefusal = Refused & { claims?: TokenClaims };

export interface RequestAuthenticator {
  /**
   * Verifies the `Authorization` header. For a token that was verified before, the result is not a promise: it takes a few map
   * look-ups, whereas verifying a signature takes about 300 µs. An invalid token counts against the caller's address; an address
   * that has sent too many is verified a few tokens at a time.
   */
  authenticate: (
    authorization: string | undefined,
    caller: Caller,
  ) => Authenticated | TokenRefusal | Promise<Authenticated | TokenRefusal>;
  /** Redeems a ticket. Only an invalid one counts against the caller's address. */
  byTicket: (
    redeem: () => Promise<Authenticated | TokenRefusal>,
    caller: Caller,
  ) => Promise<Authenticated | TokenRefusal>;
  /** Checks the claims of a verified token again: it can have expired, been revoked, or lost scopes since. */
  review: (claims: TokenClaims) => Authenticated | TokenRefusal | Promise<Authenticated | TokenRefusal>;
}

/** The caller's address; a getter, because finding it out is not free and most requests do not need it. */
interface Caller {
  readonly ip: string;
}

export interface RequestAuthenticatorDeps {
  addresses: AddressQuota;
  tokens: TokenSigner;
  clients: ClientAccessCache;
  now: () => number;
}

const bearerPattern = /^Bearer ([A-Za-z0-9._~+/-]{1,4096}=*)$/i;
const verifiedMax = 10_000;
/**
 * Verifications of unknown tokens from an address that has sent too many invalid ones. Each takes about 300 µs on another thread, so the last
 * one of an address block waits for a third of a second; one at a time, each would wait for a turn of a busy event loop.
 */
const suspectsLimits = { concurrentMax: 4, waitingMax: 4000, waitingOfKeyMax: 1000 };

/**
 * Known headers are looked up by their last characters, which are those of the signature, and then compared as a whole. Hashing a
 * string of several hundred characters for the look-up took a microsecond of each request.
 */
const endLength = 32;

/** A verified token. The judgement depends on the client, so it is kept with the client that it was made from. */
interface VerifiedToken {
  authorization: string;
  claims: TokenClaims;
  access: ClientAccess | undefined;
  judgement: Authenticated | TokenRefusal;
}

export function createRequestAuthenticator({
  addresses,
  tokens,
  clients,
  now,
}: RequestAuthenticatorDeps): RequestAuthenticator {
  const suspects = createBoundedGate(suspectsLimits);
  const verified = createRecentCache<VerifiedToken>(verifiedMax);

  function refuse(refusal: TokenRefusal, { ip }: Caller): TokenRefusal {
    const waitSeconds = addresses.take(ip);
    if (waitSeconds === 0) return refusal;
    const { claims } = refusal;
    // With its claims, so that the use of a token that was valid once is in the audit log.
    return {
      ...{ refused: "RATE_LIMITED", retryAfterSeconds: waitSeconds },
      ...(claims === undefined ? {} : { claims }),
    };
  }

  /** Every refusal counts, even of a token that was valid once, because each one is written to the audit log. */
  function countRefusal(
    judgement: Authenticated | TokenRefusal,
    caller: Caller,
  ): Authenticated | TokenRefusal {
    return "refused" in judgement ? refuse(judgement, caller) : judgement;
  }

  async function byTicket(
    redeem: () => Promise<Authenticated | TokenRefusal>,
    caller: Caller,
  ): Promise<Authenticated | TokenRefusal> {
    return countRefusal(await redeem(), caller);
  }

  async function verify(authorization: string, caller: Caller): Promise<Authenticated | TokenRefusal> {
    const token = bearerPattern.exec(authorization)?.[1];
    if (token === undefined) return refuse({ refused: "UNAUTHENTICATED" }, caller);
    const waitSeconds = addresses.wait(caller.ip);
    // A valid token is accepted whatever its address has sent. What invalid ones cost is bounded by a gate.
    const claims =
      waitSeconds === 0
        ? await tokens.verify(token)
        : await suspects.run(addressBlock(caller.ip), () => tokens.verify(token));
    if (claims === "full") return { refused: "RATE_LIMITED", retryAfterSeconds: waitSeconds };
    if (claims === "expired") return refuse({ refused: "TOKEN_EXPIRED" }, caller);
    if (claims === "invalid") return refuse({ refused: "TOKEN_INVALID" }, caller);
    const access = clients.peek(claims.clientId) ?? (await clients.load(claims.clientId));
    const judgement = judgeToken(claims, access, now());
    verified.set(authorization.slice(-endLength), { authorization, claims, access, judgement });
    return countRefusal(judgement, caller);
  }

  function authenticate(
    authorization: string | undefined,
    caller: Caller,
  ): Authenticated | TokenRefusal | Promise<Authenticated | TokenRefusal> {
    if (authorization === undefined) return refuse({ refused: "UNAUTHENTICATED" }, caller);
    // Looked up by the header as it is, so that a known one is not even parsed.
    const end = authorization.slice(-endLength);
    const known = verified.get(end);
    if (known === undefined || !isSameToken(known.authorization, authorization))
      return verify(authorization, caller);
    // Its key may have been revoked since.
    if (!tokens.isKeyRecent(known.claims.keyId)) {
      verified.delete(end);
      return verify(authorization, caller);
    }
    if (known.claims.expiresAtMs <= now()) {
      verified.delete(end);
      return refuse({ refused: "TOKEN_EXPIRED" }, caller);
    }
    const access = clients.peek(known.claims.clientId);
    if (access === undefined) {
      return clients.load(known.claims.clientId).then((loaded) => countRefusal(renew(known, loaded), caller));
    }
    return countRefusal(access === known.access ? known.judgement : renew(known, access), caller);
  }

  function renew(known: VerifiedToken, access: ClientAccess): Authenticated | TokenRefusal {
    known.access = access;
    known.judgement = judgeToken(known.claims, access, now());
    return known.judgement;
  }

  function review(claims: TokenClaims): Authenticated | TokenRefusal | Promise<Authenticated | TokenRefusal> {
    if (claims.expiresAtMs <= now()) return { refused: "TOKEN_EXPIRED", claims };
    const { keyId } = claims;
    if (keyId === undefined || tokens.isKeyRecent(keyId)) return reviewClient(claims);
    return tokens
      .hasKey(keyId)
      .then((hasKey) => (hasKey ? reviewClient(claims) : { refused: "TOKEN_REVOKED", claims }));
  }

  function reviewClient(
    claims: TokenClaims,
  ): Authenticated | TokenRefusal | Promise<Authenticated | TokenRefusal> {
    const access = clients.peek(claims.clientId);
    if (access !== undefined) return judgeToken(claims, access, now());
    return clients.load(claims.clientId).then((loaded) => judgeToken(claims, loaded, now()));
  }

  return { authenticate, byTicket, review };
}

/** Whether two headers carry the same token. The scheme is case-insensitive: `bearer` is `Bearer`. */
function isSameToken(verified: string, given: string): boolean {
  if (verified === given) return true;
  const schemeLength = "Bearer ".length;
  return (
    given.slice(0, schemeLength).toLowerCase() === "bearer " &&
    given.slice(schemeLength) === verified.slice(schemeLength)
  );
}
