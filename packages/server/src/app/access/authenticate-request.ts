import type { Scope } from "@bursar/protocol";
import type { AddressQuota } from "../quotas/address-quota.js";
import type { Refused } from "../requests/refused.js";
import type { ApiClient } from "./client.js";
import type { ClientAccess, ClientAccessCache } from "./client-access.js";
import type { Principal } from "./principal.js";
import type { TokenClaims, TokenSigner } from "./tokens.js";

/** A request that has proven whom it comes from. */
export interface Authenticated {
  principal: Principal;
  client: ApiClient;
  /** What its token says. */
  claims: TokenClaims;
}

/** A refusal, with what the token says where its signature was good: for the audit log. */
export type TokenRefusal = Refused & { claims?: TokenClaims };

export interface RequestAuthenticator {
  /**
   * Judges the `Authorization` header. For a token that was seen before it answers at once, not with a promise: that is a few
   * map look-ups, where verifying a signature costs about 300 µs. What has to be verified is counted against the caller's address
   * where it turns out to be wrong, and not even looked at where too much from there was wrong before.
   */
  authenticate: (
    authorization: string | undefined,
    caller: Caller,
  ) => Authenticated | TokenRefusal | Promise<Authenticated | TokenRefusal>;
  /** Redeems a ticket, within what its caller's address may ask for. */
  byTicket: (
    redeem: () => Promise<Authenticated | TokenRefusal>,
    caller: Caller,
  ) => Promise<Authenticated | TokenRefusal>;
  /** Judges anew what a token says that was verified before: it can have expired, been revoked, or lost scopes. */
  review: (claims: TokenClaims) => Authenticated | TokenRefusal | Promise<Authenticated | TokenRefusal>;
}

/** Where a request comes from; read only where it is needed, because finding it out is not free. */
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
 * Known headers are found by their ends, which are those of signatures, and then compared as a whole: a look-up by a text of several
 * hundred characters begins with a sum over all of them, which took a microsecond of each request.
 */
const endLength = 32;

/** A token that has verified. What it allows changes when its client changes, so that is kept with the client it was made from. */
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
  const verified = new Map<string, VerifiedToken>();

  function turnAway(refusal: TokenRefusal, { ip }: Caller): TokenRefusal {
    const waitSeconds = addresses.take(ip);
    return waitSeconds === 0 ? refusal : { refused: "RATE_LIMITED", retryAfterSeconds: waitSeconds };
  }

  /** Whatever is refused counts, also a token that was good once: each refusal is written down. */
  function pass(judgement: Authenticated | TokenRefusal, caller: Caller): Authenticated | TokenRefusal {
    return "refused" in judgement ? turnAway(judgement, caller) : judgement;
  }

  async function byTicket(
    redeem: () => Promise<Authenticated | TokenRefusal>,
    caller: Caller,
  ): Promise<Authenticated | TokenRefusal> {
    const waitSeconds = addresses.wait(caller.ip);
    if (waitSeconds > 0) return { refused: "RATE_LIMITED", retryAfterSeconds: waitSeconds };
    return pass(await redeem(), caller);
  }

  async function verify(authorization: string, caller: Caller): Promise<Authenticated | TokenRefusal> {
    const token = bearerPattern.exec(authorization)?.[1];
    if (token === undefined) return turnAway({ refused: "UNAUTHENTICATED" }, caller);
    const waitSeconds = addresses.wait(caller.ip);
    if (waitSeconds > 0) return { refused: "RATE_LIMITED", retryAfterSeconds: waitSeconds };
    const claims = await tokens.verify(token);
    if (claims === "expired") return turnAway({ refused: "TOKEN_EXPIRED" }, caller);
    if (claims === "invalid") return turnAway({ refused: "TOKEN_INVALID" }, caller);
    const access = clients.peek(claims.clientId) ?? (await clients.load(claims.clientId));
    const judgement = judge(claims, access);
    verified.set(authorization.slice(-endLength), { authorization, claims, access, judgement });
    if (verified.size > verifiedMax) verified.delete(verified.keys().next().value as string);
    return pass(judgement, caller);
  }

  function authenticate(
    authorization: string | undefined,
    caller: Caller,
  ): Authenticated | TokenRefusal | Promise<Authenticated | TokenRefusal> {
    if (authorization === undefined) return turnAway({ refused: "UNAUTHENTICATED" }, caller);
    // By the header as it is, so that a known one is not even parsed.
    const end = authorization.slice(-endLength);
    const known = verified.get(end);
    if (known === undefined || !isSameToken(known.authorization, authorization))
      return verify(authorization, caller);
    if (known.claims.expiresAtMs <= now()) {
      verified.delete(end);
      return turnAway({ refused: "TOKEN_EXPIRED" }, caller);
    }
    const access = clients.peek(known.claims.clientId);
    if (access === undefined) {
      return clients.load(known.claims.clientId).then((loaded) => pass(renew(known, loaded), caller));
    }
    return pass(access === known.access ? known.judgement : renew(known, access), caller);
  }

  function renew(known: VerifiedToken, access: ClientAccess): Authenticated | TokenRefusal {
    known.access = access;
    known.judgement = judge(known.claims, access);
    return known.judgement;
  }

  function review(claims: TokenClaims): Authenticated | TokenRefusal | Promise<Authenticated | TokenRefusal> {
    if (claims.expiresAtMs <= now()) return { refused: "TOKEN_EXPIRED", claims };
    const access = clients.peek(claims.clientId);
    if (access !== undefined) return judge(claims, access);
    return clients.load(claims.clientId).then((loaded) => judge(claims, loaded));
  }

  return { authenticate, byTicket, review };
}

function judge(claims: TokenClaims, { client, revokedTokenIds }: ClientAccess): Authenticated | TokenRefusal {
  if (client === undefined || client.tenantId !== claims.tenantId) return { refused: "TOKEN_INVALID" };
  const isEnded = client.disabledAt !== null && claims.issuedAtMs < client.disabledAt.getTime();
  if (client.state !== "active" || isEnded || revokedTokenIds.has(claims.tokenId))
    return { refused: "TOKEN_REVOKED", claims };
  const scopes = new Set<Scope>(claims.scopes.filter((scope) => client.scopes.includes(scope)));
  const { tenantId, clientId, tokenId } = claims;
  return { principal: { tenantId, clientId, tokenId, scopes }, client, claims };
}

/** Whether a header carries the token of one that has verified. The scheme may be spelled as one likes: `bearer` is `Bearer`. */
function isSameToken(verified: string, given: string): boolean {
  if (verified === given) return true;
  const schemeLength = "Bearer ".length;
  return (
    given.slice(0, schemeLength).toLowerCase() === "bearer " &&
    given.slice(schemeLength) === verified.slice(schemeLength)
  );
}
