import type { ErrorCode } from "@bursar/protocol";
import type { FastifyRequest } from "fastify";

/** What is in the audit log beside 401 and 403: a client tries what it must not, or decides on something else than what it has seen. */
const recordedCodes: ReadonlySet<ErrorCode | null> = new Set<ErrorCode>([
  "DIGEST_MISMATCH",
  "APPROVAL_STALE",
  "WEBHOOK_URL_REFUSED",
  "WALLET_UNKNOWN",
]);

/** An object of another tenant looks like one that does not exist, so that 404 shows who looks for such objects. */
export function isAttempt({ authenticated, errorCode }: FastifyRequest, statusCode: number): boolean {
  const isRefused = statusCode === 401 || statusCode === 403 || recordedCodes.has(errorCode);
  return isRefused || (statusCode === 404 && authenticated !== null);
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
