import type { FastifyRequest } from "fastify";
import { isRecordedRefusal } from "../../app/audit/recorded-refusals.js";

/**
 * An object of another tenant looks like one that does not exist, so that 404 shows who looks for such objects. A token that was revoked is
 * recorded also if its address has used up its quota: nobody can hide the use of one behind invalid tokens.
 */
export function isAttempt(request: FastifyRequest, statusCode: number): boolean {
  const { authenticated, errorCode, refusedClaims } = request;
  // A decision that came too late: somebody looks for it later. Reading an approval that there is not says nothing.
  const isLateDecision = errorCode === "NOT_AWAITING_APPROVAL" && !isRead(request);
  // Somebody has tried to change the rules. A dry run changes nothing.
  const isPolicyChange = errorCode === "POLICY_INVALID" && request.routeOptions.url !== "/v1/policy/evaluate";
  const isRefused =
    statusCode === 401 ||
    statusCode === 403 ||
    isRecordedRefusal(errorCode) ||
    isLateDecision ||
    isPolicyChange;
  return isRefused || refusedClaims !== null || (statusCode === 404 && authenticated !== null);
}

/** The answer to HEAD is made as that to GET, and then left out. */
export function isRead({ method }: FastifyRequest): boolean {
  return method === "GET" || method === "HEAD";
}

export function describeRefusal(request: FastifyRequest, occurredAt: Date) {
  const principal = request.authenticated?.principal ?? request.refusedClaims;
  const objects = Object.values((request.params ?? {}) as Record<string, string>);
  // Reads of what does not exist become one entry with a count: a client may look for many objects.
  const isSearch = isRead(request) && principal !== null && (request.errorCode ?? "").endsWith("NOT_FOUND");
  return {
    tenantId: principal?.tenantId,
    occurredAt,
    actor: principal === null ? ("anonymous" as const) : ("client" as const),
    clientId: principal?.clientId ?? null,
    tokenId: principal?.tokenId ?? null,
    sessionId: principal?.sessionId ?? null,
    action: `${request.method} ${request.routeOptions.url}`,
    // An unauthenticated caller chooses the path freely, and each value would become an entry of its own.
    object: objects.length === 0 || principal === null || isSearch ? null : objects.join("/"),
    outcome: "refused" as const,
    code: request.errorCode,
    repeated: 1,
    requestId: request.id,
    address: request.ip,
  };
}
