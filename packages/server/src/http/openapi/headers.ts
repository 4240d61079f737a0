import { acceptSignature } from "@bursar/protocol";

/**
 * The headers of requests and responses that the OpenAPI document describes. The tests compare every response that they fetch with it: a
 * header of this list that is sent must be documented for the response, and a required one must be sent.
 */

const text = { type: "string" };

/** The response headers, as components. */
export const responseHeaders = {
  "X-Request-Id": {
    description:
      "Identifies the request in the service's log: the client's own `X-Request-Id` if it is 1 to 128 characters of `A-Z a-z 0-9 . _ -`, otherwise a new one.",
    required: true,
    schema: text,
    example: "req_01m7hv2cbrfxcbj52v4k8ghnxc",
  },
  "Bursar-Version": {
    description: "The version of the API.",
    required: true,
    schema: text,
    example: "0.1.0",
  },
  "RateLimit-Policy": {
    description:
      "The quota that the request counts against: its class, its burst, and the seconds in which it refills completely.",
    schema: text,
    example: '"create";q=2000;w=2',
  },
  RateLimit: {
    description:
      "What is left of the quota, and the seconds until it is full again; if nothing is left, until the next request is allowed.",
    schema: text,
    example: '"create";r=1999;t=1',
  },
  "Retry-After": {
    description: "The number of seconds to wait before the next request, rounded up.",
    schema: { type: "integer" },
    example: 1,
  },
  Location: {
    description: "The path of the resource.",
    required: true,
    schema: { type: "string", format: "uri-reference" },
    example: "/v1/transactions/tx_01m7hv29e0ft9aa6d3rfpaz6r9",
  },
  ETag: {
    description: "Names this version of the resource, for `If-None-Match` and `If-Match`.",
    required: true,
    schema: text,
    example: 'W/"tx_01m7hv29e0ft9aa6d3rfpaz6r9-2"',
  },
  "Cache-Control": {
    description: "How long the response may be cached.",
    required: true,
    schema: text,
    example: "public, max-age=15",
  },
  "Idempotent-Replayed": {
    description: "`true` if the response repeats that of an earlier request with the same `Idempotency-Key`.",
    schema: { type: "string", enum: ["true"] },
    example: "true",
  },
  "Preference-Applied": {
    description: "The preference that was honoured.",
    schema: text,
    example: "wait=30",
  },
  "WWW-Authenticate": {
    description: "Why the credentials do not suffice (RFC 6750, RFC 6749).",
    schema: text,
    example:
      'Bearer realm="bursar", error="invalid_token", error_description="The access token has expired."',
  },
  "Accept-Signature": {
    description: "How a request has to be signed (RFC 9421, section 5).",
    schema: text,
    example: acceptSignature,
  },
  Upgrade: {
    description: "The protocol to upgrade to.",
    schema: text,
    example: "websocket",
  },
  "Sec-WebSocket-Version": {
    description: "The supported version of the WebSocket protocol.",
    schema: text,
    example: "13",
  },
  Deprecation: {
    description: "Since when the route, or a field of the request, is deprecated (RFC 9745).",
    schema: text,
    example: "@1798761600",
  },
  Sunset: {
    description: "When it is shut down (RFC 8594).",
    schema: text,
    example: "Sat, 01 Jan 2028 00:00:00 GMT",
  },
  "Next-Cursor": {
    description: "In CSV, the `cursor` of the next page; left out on the last one.",
    schema: text,
    example: "ZW50cmllczo0NzExLjI",
  },
  Link: {
    description: "A page that explains the deprecation.",
    schema: text,
    example: '<https://bursar.example/docs/reference/versioning>; rel="deprecation"',
  },
} as const;

export type ResponseHeader = keyof typeof responseHeaders;

/** References to header components. */
export function refer(names: readonly ResponseHeader[]): object {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** The request headers that some routes honour. They are only documented: each is checked by the code that reads it. */
export const requestHeaders = {
  idempotencyKey: {
    name: "Idempotency-Key",
    description:
      'Makes a repeated request return the result of the first. 1 to 255 visible ASCII characters other than `"` and `\\`, quoted or bare. Keys do not expire.',
    schema: { type: "string", minLength: 1, maxLength: 257 },
    example: "3f1c8a52-6f5e-4b8e-9b3a-0a7d2c9e4f10",
  },
  passkey: {
    name: "Bursar-Passkey",
    description:
      "Required of people: base64url of JSON with `id`, `at`, `client_data`, `authenticator_data` and `signature`, an assertion of a passkey whose challenge is computed from the request. The guide has the computation.",
    schema: { type: "string", maxLength: 8192 },
    example: "eyJpZCI6IlkzSmxaR1Z1ZEdsaGJBIn0",
  },
  ifMatch: {
    name: "If-Match",
    description: "The `ETag` of the version to replace, as it was read.",
    schema: text,
    example: '"3"',
  },
  ifNoneMatch: {
    name: "If-None-Match",
    description: "The `ETag` of the version that the client has.",
    schema: text,
    example: 'W/"tx_01m7hv29e0ft9aa6d3rfpaz6r9-1"',
  },
  prefer: {
    name: "Prefer",
    description:
      "`wait=N`, together with `If-None-Match`: delays the response until something has changed, for up to min(N, 30) seconds (RFC 7240).",
    schema: text,
    example: "wait=30",
  },
} as const;
