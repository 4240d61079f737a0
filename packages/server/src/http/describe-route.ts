import { type ErrorCode, errorCatalog } from "@bursar/protocol";
import type { FastifySchema } from "fastify";
import { type TSchema, Type } from "typebox";
import { isMarkedDeprecated } from "./deprecations.js";
import { createsWork } from "./quotas/quota-gate.js";
import type { Route } from "./route.js";

/** A route's schemas, as Fastify checks them and the OpenAPI document shows them. */
export function describeRoute(route: Route): FastifySchema {
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(route.deprecated === undefined ? {} : { deprecated: true }),
    ...(route.description === undefined ? {} : { description: route.description }),
    ...(route.body === undefined ? {} : { body: route.body }),
    ...(route.query === undefined ? {} : { querystring: route.query }),
    ...(route.params === undefined ? {} : { params: route.params }),
    ...describeHeaders(route),
    ...(route.access === "oauth" ? { consumes: ["application/x-www-form-urlencoded"] } : {}),
    security: describeSecurity(route),
    response: {
      [route.success.status]: route.success.schema,
      ...(route.ifNoneMatch === undefined ? {} : { 304: notModified }),
      ...(route.access === "oauth" ? describeOAuthErrors() : describeErrors(route)),
    },
  };
}

/** Described for readers; their form is checked where they are read, because a wrong one has an error code of its own. */
function describeHeaders({ idempotent, ifMatch }: Route): { headers?: TSchema; requiredHeaders?: string[] } {
  if (ifMatch !== undefined) return { headers: ifMatchHeaders, requiredHeaders: ["if-match"] };
  if (idempotent === undefined) return {};
  return {
    headers: idempotencyHeaders,
    ...(idempotent === "required" ? { requiredHeaders: ["idempotency-key"] } : {}),
  };
}

const notModified = { type: "null", description: "Nothing has changed since what `If-None-Match` names." };
const ifMatchHeaders = Type.Object({
  "if-match": Type.Optional(
    Type.String({ description: "The `ETag` of what is to be replaced, as it was read." }),
  ),
});
const idempotencyHeaders = Type.Object({
  "idempotency-key": Type.Optional(
    Type.String({
      description:
        "Makes a repeated request find the result of the first. 1 to 255 visible ASCII characters.",
    }),
  ),
});

function describeSecurity({ access }: Route): Record<string, string[]>[] {
  switch (access) {
    case "open":
      return [];
    case "oauth":
      return [{ clientSecret: [] }];
    default:
      return [{ oauth2: [access] }];
  }
}

/** The schema as the document shows it: a header that a route needs is checked by its own code, and shown as required. */
export function forDocument(schema: FastifySchema & { requiredHeaders?: string[] }): FastifySchema {
  const { requiredHeaders, ...rest } = schema;
  return {
    ...rest,
    ...(requiredHeaders === undefined
      ? {}
      : { headers: { ...(rest.headers as object), required: requiredHeaders } }),
    ...(isGuarded(rest) ? { response: withQuotaHeaders(rest.response as Record<string, object>) } : {}),
  };
}

function isGuarded({ security }: FastifySchema): boolean {
  return (security ?? []).some((way) => "oauth2" in way);
}

/** Shown on the answers that every client sees; they stand on all others too that a client gets after it has proven itself. */
function withQuotaHeaders(response: Record<string, object>): Record<string, object> {
  return Object.fromEntries(
    Object.entries(response).map(([status, schema]) => {
      if (status === "429") return [status, { ...schema, headers: { ...quotaHeaders, ...retryHeaders } }];
      return [status, Number(status) < 300 ? { ...schema, headers: quotaHeaders } : schema];
    }),
  );
}

const quotaHeaders = {
  "RateLimit-Policy": {
    type: "string",
    description:
      'The quota that the request counts against: its class, how many may come at once, and in how many seconds all of them are there again. `"create";q=2000;w=2`',
  },
  RateLimit: {
    type: "string",
    description:
      'What is left of it, and in how many seconds it is whole again; where nothing is left, when to come back. `"create";r=1999;t=1`',
  },
};
const retryHeaders = {
  "Retry-After": { type: "integer", description: "How many seconds to wait, rounded up." },
};

/** What any route can answer with, whatever it does; what those whose method has a body can; what those with a scope can. */
const errorsOfEveryRoute: readonly ErrorCode[] = ["MALFORMED_REQUEST", "INTERNAL"];
const errorsOfRoutesWithBody: readonly ErrorCode[] = [
  "MALFORMED_JSON",
  "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
];
const errorsOfIdempotentRoutes: readonly ErrorCode[] = ["IDEMPOTENCY_KEY_INVALID", "IDEMPOTENCY_KEY_REUSED"];
const errorsOfGuardedRoutes: readonly ErrorCode[] = [
  "UNAUTHENTICATED",
  "TOKEN_INVALID",
  "TOKEN_EXPIRED",
  "TOKEN_REVOKED",
  "SIGNATURE_REQUIRED",
  "SIGNATURE_INVALID",
  "DIGEST_MISMATCH",
  "INSUFFICIENT_SCOPE",
  "RATE_LIMITED",
  "CONCURRENCY_LIMITED",
  "UNAVAILABLE",
];

function describeErrors(route: Route): Record<number, unknown> {
  const takesInput = route.body !== undefined || route.query !== undefined || route.params !== undefined;
  const codes: ErrorCode[] = [
    ...errorsOfEveryRoute,
    ...(takesInput ? (["INVALID_REQUEST"] as const) : []),
    ...(route.params === undefined ? [] : (["URI_TOO_LONG"] as const)),
    // Also where a route takes no body: one that comes all the same is read.
    ...(route.method === "GET" ? [] : errorsOfRoutesWithBody),
    ...(route.idempotent === undefined ? [] : errorsOfIdempotentRoutes),
    ...(route.access === "open" ? [] : errorsOfGuardedRoutes),
    ...(createsWork(route) ? (["OVERLOADED"] as const) : []),
    ...(isMarkedDeprecated(route) ? (["API_VERSION_SUNSET"] as const) : []),
    ...route.errors,
  ];
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set(codes)) {
    const { status } = errorCatalog[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, names]) => [
      status,
      errorResponse("Error", names.map((name) => `\`${name}\``).join(", ")),
    ]),
  );
}

function describeOAuthErrors(): Record<number, unknown> {
  return {
    400: errorResponse("OAuthError", "The request is malformed."),
    401: errorResponse("OAuthError", "The client could not be authenticated."),
    413: errorResponse("OAuthError", "The body is too large."),
    415: errorResponse("OAuthError", "The body is not form-encoded."),
    429: errorResponse("OAuthError", "Too many failed attempts; see `Retry-After`."),
    500: errorResponse("OAuthError", "The service failed in a way that it did not foresee."),
    503: errorResponse("OAuthError", "The service cannot take the request right now."),
  };
}

function errorResponse(schema: string, description: string): unknown {
  return { ...Type.Ref(schema), description };
}
