import { type Components, type ErrorCode, errorCatalog } from "@bursar/protocol";
import type { TSchema } from "typebox";
import { isMarkedDeprecated } from "../deprecations.js";
import { canBeShed } from "../quotas/quota-gate.js";
import type { Route } from "../route.js";

/** An operation of the OpenAPI document, from the route that serves it. Bodies are references to named components. */
export function describeOperation(route: Route, { reference }: Pick<Components, "reference">): object {
  const { operationId, tag, summary, description, deprecated, body, access } = route;
  const parameters = describeParameters(route, reference);
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(deprecated === undefined ? {} : { deprecated: true }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: route.isBodyOptional !== true,
            content: { [contentTypeOf(route)]: { schema: reference(body) } },
          },
        }),
    responses: describeResponses(route, reference),
    security: describeSecurity(access),
  };
}

/** A list of alternatives, each of which suffices. */
function describeSecurity(access: Route["access"]): object[] {
  if (access === "open") return [];
  if (access === "oauth") return [{ clientSecret: [] }];
  if (typeof access === "string") return [{ oauth2: [access] }];
  return access.length === 0 ? [{ oauth2: [] }] : access.map((scope) => ({ oauth2: [scope] }));
}

type Reference = Components["reference"];

function contentTypeOf({ access }: Route): string {
  return access === "oauth" ? "application/x-www-form-urlencoded" : "application/json";
}

function describeParameters(route: Route, reference: Reference): object[] {
  return [
    ...fieldsOf(route.params, "path", reference),
    ...fieldsOf(route.query, "query", reference),
    ...describeHeaders(route),
  ];
}

function fieldsOf(schema: TSchema | undefined, place: "path" | "query", reference: Reference): object[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, { description?: string; deprecated?: boolean }>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, deprecated, ...field }]) => ({
    name,
    in: place,
    required: place === "path" || required.includes(name),
    ...(description === undefined ? {} : { description }),
    ...(deprecated === undefined ? {} : { deprecated }),
    schema: reference(field),
  }));
}

/** These are only documented here: a malformed value has an error code of its own, so each is checked by the code that reads it. */
function describeHeaders({ idempotent, ifMatch, ifNoneMatch }: Route): object[] {
  const header = (name: string, required: boolean, description: string) => ({
    name,
    in: "header",
    required,
    description,
    schema: { type: "string" },
  });
  return [
    ...(idempotent === undefined
      ? []
      : [
          header(
            "idempotency-key",
            idempotent === "required",
            "Makes a repeated request return the result of the first. 1 to 255 visible ASCII characters.",
          ),
        ]),
    ...(ifMatch === undefined
      ? []
      : [header("if-match", true, "The `ETag` of the version to replace, as it was read.")]),
    ...(ifNoneMatch === undefined
      ? []
      : [header("if-none-match", false, "The `ETag` of the version that the client has.")]),
  ];
}

function describeResponses(route: Route, reference: Reference): object {
  const { success, orElse, access, ifNoneMatch } = route;
  const { description = "Success.", type } = success.schema as { description?: string; type?: string };
  const isGuarded = access !== "open" && access !== "oauth";
  const hasContent = type !== "null";
  return {
    [success.status]: {
      description,
      ...(isGuarded ? { headers: quotaHeaders } : {}),
      ...(hasContent ? { content: { "application/json": { schema: reference(success.schema) } } } : {}),
    },
    ...(orElse === undefined
      ? {}
      : {
          [orElse.status]: {
            description: "The change waits for approval.",
            headers: quotaHeaders,
            content: { "application/json": { schema: reference(orElse.schema) } },
          },
        }),
    ...(ifNoneMatch === undefined
      ? {}
      : { 304: { description: "Unchanged since the version that `If-None-Match` names." } }),
    ...(access === "oauth" ? describeOAuthErrors() : describeErrors(route)),
  };
}

/** Sent with every response to an authenticated client; documented where clients look for them. */
const quotaHeaders = {
  "RateLimit-Policy": { $ref: "#/components/headers/RateLimit-Policy" },
  RateLimit: { $ref: "#/components/headers/RateLimit" },
};

export const headerComponents = {
  "RateLimit-Policy": {
    description:
      'The quota that the request counts against: its class, its burst, and the seconds in which it refills completely. `"create";q=2000;w=2`',
    schema: { type: "string" },
  },
  RateLimit: {
    description:
      'What is left of the quota, and the seconds until it is full again; if nothing is left, until the next request is allowed. `"create";r=1999;t=1`',
    schema: { type: "string" },
  },
  "Retry-After": {
    description: "The number of seconds to wait, rounded up.",
    schema: { type: "integer" },
  },
};

/** Errors of all routes; of routes whose method has a body; of routes that honour a key; of routes that require a scope. */
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
  "TENANT_SUSPENDED",
  "SIGNATURE_REQUIRED",
  "SIGNATURE_INVALID",
  "DIGEST_MISMATCH",
  "INSUFFICIENT_SCOPE",
  "RATE_LIMITED",
  "CONCURRENCY_LIMITED",
  "UNAVAILABLE",
];

function describeErrors(route: Route): Record<number, object> {
  const hasInput = route.body !== undefined || route.query !== undefined || route.params !== undefined;
  const codes: ErrorCode[] = [
    ...errorsOfEveryRoute,
    ...(hasInput ? (["INVALID_REQUEST"] as const) : []),
    ...(route.params === undefined ? [] : (["URI_TOO_LONG"] as const)),
    // Also if the route expects no body: one that is sent anyway is parsed.
    ...(route.method === "GET" ? [] : errorsOfRoutesWithBody),
    ...(route.idempotent === undefined ? [] : errorsOfIdempotentRoutes),
    ...(route.access === "open" ? [] : errorsOfGuardedRoutes),
    ...(canBeShed(route) ? (["OVERLOADED"] as const) : []),
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
      errorResponse("Error", names.map((name) => `\`${name}\``).join(", "), status === 429),
    ]),
  );
}

function describeOAuthErrors(): Record<number, object> {
  return {
    400: errorResponse("OAuthError", "The request is malformed."),
    401: errorResponse("OAuthError", "Client authentication failed."),
    413: errorResponse("OAuthError", "The body is too large."),
    415: errorResponse("OAuthError", "The body is not form-encoded."),
    429: errorResponse("OAuthError", "Too many failed attempts; see `Retry-After`.", true),
    500: errorResponse("OAuthError", "The service failed unexpectedly."),
    503: errorResponse("OAuthError", "The service is temporarily unavailable."),
  };
}

function errorResponse(schema: string, description: string, isRetryable = false): object {
  const retryAfter = { "Retry-After": { $ref: "#/components/headers/Retry-After" } };
  return {
    description,
    ...(isRetryable ? { headers: schema === "Error" ? { ...quotaHeaders, ...retryAfter } : retryAfter } : {}),
    content: { "application/json": { schema: { $ref: `#/components/schemas/${schema}` } } },
  };
}
