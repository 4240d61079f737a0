import { STATUS_CODES } from "node:http";
import { type ErrorCode, errorCatalog } from "@bursar/protocol";
import { isMarkedDeprecated } from "../deprecations.js";
import { canBeShed } from "../quotas/quota-gate.js";
import type { Route } from "../route.js";
import type { DocumentParts } from "./describe-operation.js";
import { type ResponseHeader, refer } from "./headers.js";

export function describeResponses(route: Route, parts: DocumentParts): Record<number, object> {
  const { success, orElse, access, ifNoneMatch } = route;
  return {
    [success.status]: describeSuccess(route, success, parts),
    ...(orElse === undefined ? {} : { [orElse.status]: describeSuccess(route, orElse, parts) }),
    ...(ifNoneMatch === undefined
      ? {}
      : {
          304: {
            description: "Unchanged since the version that `If-None-Match` names.",
            headers: refer([...headersOfEvery(route), "ETag", ...waitHeaders(route)]),
          },
        }),
    ...(access === "oauth" ? describeOAuthErrors(parts) : describeErrors(route, parts)),
  };
}

function describeSuccess(
  route: Route,
  answer: Route["success"],
  { reference, examples }: DocumentParts,
): object {
  const { schema, description, headers = [] } = answer;
  const hasContent = (schema as { type?: string }).type !== "null";
  return {
    description,
    headers: refer([
      ...headersOfEvery(route),
      ...headers,
      ...(route.idempotent === undefined ? [] : (["Idempotent-Replayed"] as const)),
      ...waitHeaders(route),
    ]),
    ...(hasContent
      ? {
          content: {
            "application/json": {
              schema: reference(schema),
              ...examples.ofSchema(schema, answer.examples),
            },
            ...(answer.csv === undefined
              ? {}
              : {
                  "text/csv": { schema: reference(answer.csv), ...examples.ofSchema(answer.csv, undefined) },
                }),
          },
        }
      : {}),
  };
}

function waitHeaders({ prefersWait }: Route): ResponseHeader[] {
  return prefersWait === undefined ? [] : ["Preference-Applied"];
}

/** The headers of every response of a route, whatever its status. */
function headersOfEvery(route: Route): ResponseHeader[] {
  return [
    "X-Request-Id",
    "Bursar-Version",
    ...(isGuarded(route) ? (["RateLimit-Policy", "RateLimit"] as const) : []),
    ...(isMarkedDeprecated(route) ? (["Deprecation", "Sunset", "Link"] as const) : []),
  ];
}

function isGuarded({ access }: Route): boolean {
  return access !== "open" && access !== "oauth";
}

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

/** The headers of errors, by status. */
const headersOfErrors: Readonly<Record<number, readonly ResponseHeader[]>> = {
  401: ["WWW-Authenticate", "Accept-Signature"],
  403: ["WWW-Authenticate"],
  426: ["Upgrade", "Sec-WebSocket-Version"],
  429: ["Retry-After"],
  503: ["Retry-After"],
};

function describeErrors(route: Route, { examples }: DocumentParts): Record<number, object> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set(errorsOf(route))) {
    const { status } = errorCatalog[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: `${STATUS_CODES[status]}. \`error.code\` is ${listOf(codes)}.`,
        headers: refer([...headersOfEvery(route), ...(headersOfErrors[status] ?? [])]),
        content: {
          "application/json": {
            schema: { $ref: "#/components/schemas/Error" },
            ...examples.ofErrors(codes),
          },
        },
      },
    ]),
  );
}

function errorsOf(route: Route): ErrorCode[] {
  const hasInput = route.body !== undefined || route.query !== undefined || route.params !== undefined;
  return [
    ...errorsOfEveryRoute,
    ...(hasInput ? (["INVALID_REQUEST"] as const) : []),
    ...(route.params === undefined ? [] : (["URI_TOO_LONG"] as const)),
    // Also if the route expects no body: one that is sent anyway is parsed.
    ...(route.method === "GET" ? [] : errorsOfRoutesWithBody),
    ...(route.idempotent === undefined ? [] : errorsOfIdempotentRoutes),
    ...(route.access === "open" ? [] : errorsOfGuardedRoutes),
    ...(route.passkey === undefined ? [] : (["PASSKEY_REQUIRED", "PASSKEY_INVALID"] as const)),
    ...(canBeShed(route) ? (["OVERLOADED"] as const) : []),
    ...(isMarkedDeprecated(route) ? (["API_VERSION_SUNSET"] as const) : []),
    ...route.errors,
  ];
}

function listOf(codes: readonly ErrorCode[]): string {
  const names = codes.map((code) => `\`${code}\``);
  const last = names.pop() ?? "";
  return names.length === 0 ? last : `${names.join(", ")} or ${last}`;
}

/** The errors of RFC 6749. Other statuses than those that it names have their usual meaning. */
const oauthErrors: Readonly<Record<number, string>> = {
  400: "The request is malformed.",
  401: "Client authentication failed.",
  413: "The body is too large.",
  415: "The body is not form-encoded.",
  429: "Too many failed attempts; see `Retry-After`.",
  500: "The service failed unexpectedly.",
  503: "The service is temporarily unavailable.",
};

function describeOAuthErrors({ examples }: DocumentParts): Record<number, object> {
  return Object.fromEntries(
    Object.entries(oauthErrors).map(([status, description]) => [
      status,
      {
        description,
        headers: refer([
          "X-Request-Id",
          "Bursar-Version",
          ...(headersOfErrors[Number(status)] ?? []).filter((name) => name !== "Accept-Signature"),
        ]),
        content: {
          "application/json": {
            schema: { $ref: "#/components/schemas/OAuthError" },
            ...examples.ofOAuthError(Number(status)),
          },
        },
      },
    ]),
  );
}
