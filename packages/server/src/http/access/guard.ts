import type { ErrorCode, Scope } from "@bursar/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type {
  Authenticated,
  RequestAuthenticator,
  TokenRefusal,
} from "../../app/access/authenticate-request.js";
import type { RedeemTicket } from "../../app/access/stream-tickets.js";
import type { TokenClaims } from "../../app/access/tokens.js";
import type { SignedRequest, VerifiedSignature } from "../../app/access/verify-request-signature.js";
import type { ClientOrigin } from "../../app/audit/audit-entry.js";
import type { AuditRecorder } from "../../app/audit/audit-recorder.js";
import type { ApiClient } from "../../app/clients/client.js";
import type { ConfirmedAct, VerifyPasskey } from "../../app/people/step-up.js";
import type { AddressQuota } from "../../app/quotas/address-quota.js";
import type { FilePace } from "../../app/quotas/file-pace.js";
import type { LoadShedder } from "../../app/quotas/load-shedder.js";
import type { QuotaKeeper } from "../../app/quotas/quota-keeper.js";
import { countRequest } from "../../app/quotas/traffic.js";
import { isRefused, type Refused } from "../../app/requests/refused.js";
import type { ApprovalProof } from "../../app/transactions/approvals/approval-evidence.js";
import { type AdmissionOptions, type AdmitBody, createAdmission } from "../quotas/admission.js";
import { Refusal } from "../refusal.js";
import { refusalOf } from "./refusal-of.js";
import { describeRefusal, isAttempt, isRead } from "./refused-attempts.js";

declare module "fastify" {
  interface FastifyRequest {
    authenticated: Authenticated | null;
    /** The claims of a refused token whose signature was valid. */
    refusedClaims: TokenClaims | null;
    /** The raw bytes of the body; null if there was none. */
    rawBody: Buffer | null;
    /** Admits the body when it has arrived; null if nothing limits it. */
    admitBody: AdmitBody | null;
    /** The verified signature of the request; null if it was not signed. */
    signature: VerifiedSignature | null;
    /** Reviews the caller again; null before it is authenticated. */
    reviewCaller: ((request: FastifyRequest) => Promise<void>) | null;
    /** The error code of the response. */
    errorCode: ErrorCode | null;
    /** The number of items that turned out while the request was served, which are charged even if it was refused. */
    itemsFound: number;
    /** The number of clients that were read to tell who is independent of whom. Each is charged as an item. */
    clientsRead: number;
  }
}

/** What protects the routes that require a scope. */
export interface AccessGuard {
  authenticator: RequestAuthenticator;
  quotas: Pick<QuotaKeeper, "of">;
  /** Refuses work in an overload, first that of the tenants that use most. */
  shedder: Pick<LoadShedder, "sheds" | "count">;
  /** The quota of unauthenticated callers. */
  addresses: AddressQuota;
  /** What an address may read of files that need no token. */
  files: FilePace;
  /** Authenticates a request by its ticket, for browsers that cannot send `Authorization`. */
  redeemTicket: RedeemTicket;
  verifySignature: (
    request: SignedRequest,
    client: ApiClient,
  ) => Promise<Refused | VerifiedSignature | undefined>;
  /** Verifies that a person has confirmed a request with a passkey. */
  verifyPasskey: VerifyPasskey;
  audit: AuditRecorder;
  /** The public address of the service; `Host` is never trusted. */
  publicUrl: string;
  now: () => number;
}

export function installRequestState(app: FastifyInstance): void {
  app.decorateRequest("authenticated", null);
  app.decorateRequest("refusedClaims", null);
  app.decorateRequest("rawBody", null);
  app.decorateRequest("admitBody", null);
  app.decorateRequest("signature", null);
  app.decorateRequest("reviewCaller", null);
  app.decorateRequest("errorCode", null);
  app.decorateRequest("itemsFound", 0);
  app.decorateRequest("clientsRead", 0);
}

interface GuardedRoute extends AdmissionOptions {
  /** The scopes of which the token must have one; none are needed if the list is empty. */
  scopes: readonly Scope[];
  takesTickets: boolean;
  /** What a person has to confirm with a passkey; undefined if nothing. */
  passkey: ((request: FastifyRequest) => ConfirmedAct) | undefined;
}

/** The hooks of a route that requires a scope: token and quota before the body is read, signature after it, audit when the response is known. */
export function guardRoute(route: GuardedRoute, guard: AccessGuard) {
  const { scopes, takesTickets, passkey } = route;
  const { authenticator, redeemTicket, verifySignature, verifyPasskey, audit, publicUrl, now } = guard;
  const admission = createAdmission(route, guard);
  const checkSignature = (request: FastifyRequest, client: ApiClient, done: (error?: Error) => void) => {
    // The request for the ticket was signed.
    if (takesTickets && ticketOf(request) !== undefined) return done();
    const isSigned =
      request.headers["signature-input"] !== undefined || request.headers["signature"] !== undefined;
    if (!isSigned && !client.requireSignature) return done();
    verifySignature(toSignedRequest(request, publicUrl), client)
      .then((verified) => {
        if (verified !== undefined && isRefused(verified)) return done(refusalOf(verified));
        request.signature = verified ?? null;
        done();
      })
      .catch(done);
  };
  const accept = (request: FastifyRequest, result: Authenticated | TokenRefusal): Refusal | undefined => {
    if (isRefused(result)) return refuse(request, result);
    request.authenticated = result;
    return refuseScope(result, scopes);
  };
  const review = async (request: FastifyRequest): Promise<void> => {
    const refused = accept(request, await authenticator.review(principalOf(request).claims));
    if (refused !== undefined) throw refused;
  };
  return {
    /** Throws if the caller is no longer entitled to the request, after it has waited, or has used up its quota since. */
    beginTurn: async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      await review(request);
      const refused = isRead(request) ? admission.admitTurn(principalOf(request).client, reply) : undefined;
      if (refused !== undefined) throw refused;
    },
    // Not an async function: a known token is checked without a turn of the event loop.
    onRequest: (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => {
      const ticket = takesTickets ? ticketOf(request) : undefined;
      const judgement =
        ticket === undefined
          ? authenticator.authenticate(request.headers.authorization, request)
          : authenticator.byTicket(() => redeemTicket(ticket), request);
      const conclude = (result: Authenticated | Refused) => {
        if (isRefused(result)) return done(refuse(request, result));
        request.authenticated = result;
        request.reviewCaller = review;
        admission.admit(result.client, request, reply, () => refuseScope(result, scopes), done);
      };
      if (judgement instanceof Promise) judgement.then(conclude).catch(done);
      else conclude(judgement);
    },
    preValidation: (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void) => {
      const { client, claims } = principalOf(request);
      if (request.rawBody === null) return checkSignature(request, client, done);
      const conclude = (result: Authenticated | TokenRefusal) => {
        const refused = accept(request, result);
        return refused === undefined
          ? checkSignature(request, principalOf(request).client, done)
          : done(refused);
      };
      // A body can take seconds to arrive, and the token can have been revoked since.
      const judgement = authenticator.review(claims);
      if (judgement instanceof Promise) judgement.then(conclude).catch(done);
      else conclude(judgement);
    },
    ...(route.itemsOf === undefined && passkey === undefined
      ? {}
      : {
          preHandler: (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => {
            if (route.itemsOf !== undefined)
              admission.chargeItems(principalOf(request).client, request, reply);
            if (passkey === undefined) done();
            else confirm(request, passkey, verifyPasskey, done);
          },
        }),
    ...(route.rowsPerToken === undefined
      ? {}
      : {
          preSerialization: (
            request: FastifyRequest,
            reply: FastifyReply,
            payload: unknown,
            done: (error: null, payload: unknown) => void,
          ) => {
            // An error is serialized too, also that of a caller without a token.
            if (request.authenticated !== null)
              admission.chargeRows(request.authenticated.client, payload, reply);
            done(null, payload);
          },
        }),
    // Not onResponse, which does not run if the client disconnects first.
    onSend: (
      request: FastifyRequest,
      reply: FastifyReply,
      payload: unknown,
      done: (error: null, payload: unknown) => void,
    ) => {
      if (isAttempt(request, reply.statusCode)) audit.record(describeRefusal(request, new Date(now())));
      if (request.authenticated !== null) {
        const { client } = request.authenticated;
        if (isRead(request)) admission.chargeAnswer(client, payload, reply);
        const items = request.itemsFound + request.clientsRead;
        if (items > 0) admission.chargeItemsFound(client, items, reply);
        countRequest(guard.quotas.of(client), reply.statusCode);
      }
      done(null, payload);
    },
  };
}

/** The assertion takes the place of a signature: it is stored with a decision. */
function confirm(
  request: FastifyRequest,
  actOf: (request: FastifyRequest) => ConfirmedAct,
  verify: VerifyPasskey,
  done: (error?: Error) => void,
): void {
  const { client } = principalOf(request);
  if (client.person === null) {
    done();
    return;
  }
  const header = request.headers["bursar-passkey"];
  const given = typeof header === "string" ? header : undefined;
  verify(given, actOf(request), client, { requestId: request.id, address: request.ip })
    .then((verified) => {
      if (isRefused(verified)) return done(refusalOf(verified));
      request.signature = verified;
      done();
    })
    .catch(done);
}

/** The ticket of a request without `Authorization`. */
function ticketOf({ headers, query }: FastifyRequest): string | undefined {
  const { ticket } = query as { ticket?: unknown };
  return headers.authorization === undefined && typeof ticket === "string" ? ticket : undefined;
}

function refuse(request: FastifyRequest, refused: TokenRefusal): Refusal {
  request.refusedClaims = refused.claims ?? null;
  return refusalOf(refused);
}

function refuseScope({ principal }: Authenticated, scopes: readonly Scope[]): Refusal | undefined {
  const [scope, ...others] = scopes;
  if (scope === undefined || scopes.some((one) => principal.scopes.has(one))) return undefined;
  const needed = others.length === 0 ? `the scope ${scope}` : `all of the scopes ${scopes.join(", ")}`;
  return new Refusal("INSUFFICIENT_SCOPE", {
    message: `The access token lacks ${needed}.`,
    // A challenge names scopes that together suffice, so it names one of them.
    headers: { "www-authenticate": `Bearer realm="bursar", error="insufficient_scope", scope="${scope}"` },
  });
}

/** The authenticated identity of a request; only for guarded routes. */
export function principalOf(request: FastifyRequest): Authenticated {
  if (request.authenticated === null) throw new Error("an open route has no authenticated principal");
  return request.authenticated;
}

/** Throws if the caller is no longer entitled to the request. A route that lets it wait for something calls this before it answers. */
export async function reviewAgain(request: FastifyRequest): Promise<void> {
  await request.reviewCaller?.(request);
}

export function originOf(request: FastifyRequest): ClientOrigin {
  const { principal, claims } = principalOf(request);
  return {
    by: "client",
    principal,
    claims,
    requestId: request.id,
    address: request.ip,
    onClientsRead: (count) => {
      request.clientsRead += count;
    },
  };
}

/** The signature of a request, with the time until which its access token is valid; null if it was not signed. */
export function proofOf(request: FastifyRequest): ApprovalProof | null {
  const { signature } = request;
  if (signature === null) return null;
  // An assertion contains no token.
  const isPasskey = signature.key.algorithm === "passkey";
  const { expiresAtMs, issuedAtMs } = principalOf(request).claims;
  return { signature, tokenExpiresAt: new Date(isPasskey ? issuedAtMs : expiresAtMs) };
}

/** Returns the result of a use case, or throws its refusal as an HTTP error. */
export function unwrap<T>(result: T | Refused): T {
  if (isRefused(result)) throw refusalOf(result);
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
