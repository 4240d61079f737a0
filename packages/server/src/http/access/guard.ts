import { acceptSignature, type ErrorCode, type QuotaClass, type Scope } from "@bursar/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type {
  Authenticated,
  RequestAuthenticator,
  TokenRefusal,
} from "../../app/access/authenticate-request.js";
import type { RedeemTicket } from "../../app/access/stream-tickets.js";
import type { TokenClaims } from "../../app/access/tokens.js";
import type { SignedRequest } from "../../app/access/verify-request-signature.js";
import type { ClientOrigin } from "../../app/audit/audit-entry.js";
import type { AuditRecorder } from "../../app/audit/audit-recorder.js";
import type { ApiClient } from "../../app/clients/client.js";
import type { AddressQuota } from "../../app/quotas/address-quota.js";
import type { QuotaKeeper } from "../../app/quotas/quota-keeper.js";
import { isRefused, type Refused } from "../../app/requests/refused.js";
import { type ConcurrencyLimits, enterConnection, enterRequest } from "../quotas/concurrency-gate.js";
import { admitByQuota } from "../quotas/quota-gate.js";
import { Refusal } from "../refusal.js";

declare module "fastify" {
  interface FastifyRequest {
    authenticated: Authenticated | null;
    /** What a token that was refused says, where its signature was good. */
    refusedClaims: TokenClaims | null;
    /** The bytes of the body as they arrived; null where there was none. */
    rawBody: Buffer | null;
    /** The code of the error that the request was answered with. */
    errorCode: ErrorCode | null;
  }
}

/** What stands between a request and a route that is not open to everybody. */
export interface AccessGuard {
  authenticator: RequestAuthenticator;
  quotas: Pick<QuotaKeeper, "of">;
  /** For who has not proven anything yet. */
  addresses: AddressQuota;
  /** Lets one request in with a ticket, where a browser cannot send `Authorization`. */
  redeemTicket: RedeemTicket;
  verifySignature: (request: SignedRequest, client: ApiClient) => Promise<Refused | undefined>;
  audit: AuditRecorder;
  /** The service's address as clients see it; `Host` is never believed. */
  publicUrl: string;
}

export function installRequestState(app: FastifyInstance): void {
  app.decorateRequest("authenticated", null);
  app.decorateRequest("refusedClaims", null);
  app.decorateRequest("rawBody", null);
  app.decorateRequest("errorCode", null);
}

interface GuardedRoute {
  scope: Scope;
  quotaClass: QuotaClass;
  takesTickets: boolean;
  limits: ConcurrencyLimits;
}

/** The hooks of a route that needs a scope: the token and the quota before the body is read, the signature after, the audit at the end. */
export function guardRoute({ scope, quotaClass, takesTickets, limits }: GuardedRoute, guard: AccessGuard) {
  const { authenticator, redeemTicket, quotas, verifySignature, audit, publicUrl } = guard;
  return {
    // Not an async function: a known token is judged without a turn of the event loop.
    onRequest: (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => {
      const ticket = takesTickets ? ticketOf(request) : undefined;
      const judgement =
        ticket === undefined
          ? authenticator.authenticate(request.headers.authorization, request)
          : authenticator.byTicket(() => redeemTicket(ticket), request);
      const conclude = (result: Authenticated | Refused) => {
        if (isRefused(result)) return done(turnAway(request, result));
        request.authenticated = result;
        const traffic = quotas.of(result.client);
        admitByQuota(traffic, quotaClass, reply, (refusal) =>
          done(
            refusal ??
              enterConnection(traffic, request, limits) ??
              // A stream is open for hours, and has a bound of its own.
              (quotaClass === "stream" ? undefined : enterRequest(traffic, request, reply, limits)) ??
              refuseScope(result, scope),
          ),
        );
      };
      if (judgement instanceof Promise) judgement.then(conclude).catch(done);
      else conclude(judgement);
    },
    preValidation: (request: FastifyRequest, _reply: unknown, done: (error?: Error) => void) => {
      const { client } = principalOf(request);
      // Whoever made the ticket has signed for it.
      if (takesTickets && ticketOf(request) !== undefined) return done();
      const isSigned =
        request.headers["signature-input"] !== undefined || request.headers["signature"] !== undefined;
      if (!isSigned && !client.requireSignature) return done();
      verifySignature(toSignedRequest(request, publicUrl), client)
        .then((refused) => done(refused === undefined ? undefined : toRefusal(refused)))
        .catch(done);
    },
    onResponse: (request: FastifyRequest, reply: { statusCode: number }, done: () => void) => {
      const isRefusal =
        reply.statusCode === 401 || reply.statusCode === 403 || request.errorCode === "DIGEST_MISMATCH";
      if (isRefusal) audit.record(describeRefusal(request));
      done();
    },
  };
}

/** The ticket of a request that has no `Authorization`. */
function ticketOf({ headers, query }: FastifyRequest): string | undefined {
  const { ticket } = query as { ticket?: unknown };
  return headers.authorization === undefined && typeof ticket === "string" ? ticket : undefined;
}

function turnAway(request: FastifyRequest, refused: TokenRefusal): Refusal {
  request.refusedClaims = refused.claims ?? null;
  return toRefusal(refused);
}

function refuseScope({ principal }: Authenticated, scope: Scope): Refusal | undefined {
  if (principal.scopes.has(scope)) return undefined;
  return new Refusal("INSUFFICIENT_SCOPE", {
    message: `The access token lacks the scope ${scope}.`,
    headers: { "www-authenticate": `Bearer realm="bursar", error="insufficient_scope", scope="${scope}"` },
  });
}

/** Whom a request comes from; only routes that are guarded may ask. */
export function principalOf(request: FastifyRequest): Authenticated {
  if (request.authenticated === null) throw new Error("an open route asked whom the request comes from");
  return request.authenticated;
}

export function originOf(request: FastifyRequest): ClientOrigin {
  return {
    by: "client",
    principal: principalOf(request).principal,
    requestId: request.id,
    address: request.ip,
  };
}

/** The headers that belong to an error: what RFC 6750 and RFC 9421 ask for, and when to come back. */
const challenges: Partial<Record<ErrorCode, Record<string, string>>> = {
  UNAUTHENTICATED: { "www-authenticate": 'Bearer realm="bursar"' },
  TOKEN_INVALID: invalidToken("The access token is not valid."),
  TOKEN_EXPIRED: invalidToken("The access token has expired."),
  TOKEN_REVOKED: invalidToken("The access token has been revoked."),
  TICKET_INVALID: { "www-authenticate": 'Bearer realm="bursar"' },
  TOO_MANY_STREAMS: { "retry-after": "5" },
  UNAVAILABLE: { "retry-after": "1" },
  OVERLOADED: { "retry-after": "1" },
  SIGNATURE_REQUIRED: { "www-authenticate": 'Signature realm="bursar"', "accept-signature": acceptSignature },
  SIGNATURE_INVALID: { "www-authenticate": 'Signature realm="bursar"', "accept-signature": acceptSignature },
};

function invalidToken(description: string): Record<string, string> {
  return {
    "www-authenticate": `Bearer realm="bursar", error="invalid_token", error_description="${description}"`,
  };
}

/** The refusal of a use case as an error of the edge. */
function toRefusal({ refused, message, details, retryAfterSeconds }: Refused): Refusal {
  const headers =
    retryAfterSeconds === undefined ? challenges[refused] : { "retry-after": String(retryAfterSeconds) };
  return new Refusal(refused, {
    ...(message === undefined ? {} : { message }),
    ...(details === undefined ? {} : { details }),
    ...(headers === undefined ? {} : { headers }),
  });
}

/** Gives the result of a use case to a handler, and turns its refusal into an error. */
export function unwrap<T>(result: T | Refused): T {
  if (isRefused(result)) throw toRefusal(result);
  return result;
}

function toSignedRequest(request: FastifyRequest, publicUrl: string): SignedRequest {
  return {
    method: request.method,
    targetUri: publicUrl + request.raw.url,
    header: (name) => {
      const value = Object.hasOwn(request.headers, name) ? request.headers[name] : undefined;
      return Array.isArray(value) ? value.join(", ") : value;
    },
    body: request.rawBody ?? undefined,
  };
}

function describeRefusal(request: FastifyRequest) {
  const principal = request.authenticated?.principal ?? request.refusedClaims;
  const objects = Object.values((request.params ?? {}) as Record<string, string>);
  return {
    tenantId: principal?.tenantId,
    occurredAt: new Date(),
    actor: principal === null ? ("anonymous" as const) : ("client" as const),
    clientId: principal?.clientId ?? null,
    tokenId: principal?.tokenId ?? null,
    action: `${request.method} ${request.routeOptions.url}`,
    // What a stranger asks for is a text of the stranger's choice: each would be an entry of its own.
    object: objects.length === 0 || principal === null ? null : objects.join("/"),
    outcome: "refused" as const,
    code: request.errorCode,
    repeated: 1,
    requestId: request.id,
    address: request.ip,
  };
}
