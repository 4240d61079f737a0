import { streamErrors } from "./stream-errors.js";

/**
 * Every error that Bursar answers with, in one place. The status of an answer, the texts below and
 * `docs/reference/errors.md` come from here; a code that is not listed does not compile.
 */
export interface ErrorEntry {
  status: number;
  /** The `message` of an answer that has nothing more precise to say. */
  message: string;
  /** When a client sees it, as the rest of a sentence that begins with "when". */
  when: string;
  /** What the client should do about it. */
  advice: string;
  /** `never`: the same request fails again. `later`: the same request may succeed, after `Retry-After` where given. */
  retry: "never" | "later";
}

export const errorCatalog = {
  MALFORMED_REQUEST: {
    status: 400,
    message: "The request is not valid HTTP, or its target is not a valid path.",
    when: "the bytes on the connection are not a well-formed HTTP request, or the path is wrongly percent-encoded",
    advice: "Send the request with an ordinary HTTP client and encode the path's segments.",
    retry: "never",
  },
  MALFORMED_JSON: {
    status: 400,
    message: "The body is not valid JSON.",
    when: "the body is not UTF-8, is not JSON, repeats a key, nests too deeply, or holds a key such as `__proto__`",
    advice: "Correct the body; `message` says what is wrong with it.",
    retry: "never",
  },
  INVALID_REQUEST: {
    status: 400,
    message: "The request does not match its schema.",
    when: "a field, query parameter, path parameter or header is missing, unknown, of the wrong type or out of bounds",
    advice: "Correct the fields named in `details`.",
    retry: "never",
  },
  DIGEST_MISMATCH: {
    status: 400,
    message: "Content-Digest does not match the body.",
    when: "`Content-Digest` is malformed, names no known algorithm, or differs from the digest of the bytes received",
    advice: "Compute the digest over the exact bytes that are sent.",
    retry: "never",
  },
  IDEMPOTENCY_KEY_MISSING: {
    status: 400,
    message: "Idempotency-Key is missing.",
    when: "a request to create a transaction has no `Idempotency-Key`",
    advice: "Send a key of your own choice, and the same one again when you repeat the request.",
    retry: "never",
  },
  IDEMPOTENCY_KEY_INVALID: {
    status: 400,
    message: "Idempotency-Key is malformed.",
    when: '`Idempotency-Key` is not 1 to 255 visible ASCII characters other than `"` and `\\`',
    advice: "Send a key such as a UUID, quoted or bare.",
    retry: "never",
  },
  UNAUTHENTICATED: {
    status: 401,
    message: "An access token is needed.",
    when: "`Authorization` is missing or is not a bearer token",
    advice: "Get a token from `/oauth/token` and send it as `Authorization: Bearer …`.",
    retry: "never",
  },
  TOKEN_INVALID: {
    status: 401,
    message: "The access token is not valid.",
    when: "the token is malformed, was not issued by this service, is meant for another, or is not valid yet",
    advice: "Get a new token.",
    retry: "never",
  },
  TOKEN_EXPIRED: {
    status: 401,
    message: "The access token has expired.",
    when: "the token's 15 minutes are over",
    advice: "Get a new token and repeat the request.",
    retry: "never",
  },
  TOKEN_REVOKED: {
    status: 401,
    message: "The access token has been revoked.",
    when: "the token was revoked, or its client was disabled",
    advice: "Get a new token, if the client still may.",
    retry: "never",
  },
  SIGNATURE_REQUIRED: {
    status: 401,
    message: "This client's requests must be signed.",
    when: "the client is set to `require_signature` and the request has no signature",
    advice: "Sign the request as `Accept-Signature` says.",
    retry: "never",
  },
  SIGNATURE_INVALID: {
    status: 401,
    message: "The signature of the request is not valid.",
    when: "a signature is malformed, covers too little, is too old, from the future, used before, or does not verify",
    advice: "Sign the request anew as `Accept-Signature` says; `message` tells what was wrong.",
    retry: "never",
  },
  INSUFFICIENT_SCOPE: {
    status: 403,
    message: "The access token does not allow this.",
    when: "the token lacks the scope that the route or the change asks for",
    advice: "Get a token with the scope named in `message`, if the client has it.",
    retry: "never",
  },
  NOT_FOUND: {
    status: 404,
    message: "There is nothing at this path.",
    when: "no route has this path",
    advice: "Compare the path with the API reference.",
    retry: "never",
  },
  CLIENT_NOT_FOUND: {
    status: 404,
    message: "There is no such client.",
    when: "the tenant has no client with this id",
    advice: "Check the id.",
    retry: "never",
  },
  CREDENTIAL_NOT_FOUND: {
    status: 404,
    message: "The client has no such secret or key.",
    when: "the client has no secret or key with this id",
    advice: "Check the id.",
    retry: "never",
  },
  TRANSACTION_NOT_FOUND: {
    status: 404,
    message: "There is no such transaction.",
    when: "the tenant has no transaction with this id",
    advice: "Check the id.",
    retry: "never",
  },
  WALLET_NOT_FOUND: {
    status: 404,
    message: "There is no such wallet.",
    when: "the tenant has no wallet with this id",
    advice: "Check the id.",
    retry: "never",
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    message: "This path does not take this method.",
    when: "the path exists, but not with this method",
    advice: "Use one of the methods in the `Allow` header.",
    retry: "never",
  },
  REQUEST_TIMEOUT: {
    status: 408,
    message: "The request took too long to arrive.",
    when: "headers or body were not received in time",
    advice: "Send the request again, without pauses.",
    retry: "later",
  },
  KEY_LIMIT_REACHED: {
    status: 409,
    message: "The client has as many keys as a client may have.",
    when: "a client would have more than ten keys",
    advice: "Remove a key first.",
    retry: "never",
  },
  POLICY_REJECTED: {
    status: 403,
    message: "Policy refuses it.",
    when: "a rule of the tenant's policy refuses the request, or does not let this client approve",
    advice: "Do not repeat it unchanged; `message` gives the rule's reason.",
    retry: "never",
  },
  NOT_CANCELLABLE: {
    status: 409,
    message: "It is too late to cancel this transaction.",
    when: "the transaction is final, or its rail has gone too far",
    advice: "Read the transaction to see what became of it.",
    retry: "never",
  },
  NOT_AWAITING_APPROVAL: {
    status: 409,
    message: "The transaction does not wait for approval.",
    when: "nobody was asked, or the transaction has gone on or ended since",
    advice: "Read the transaction to see what became of it.",
    retry: "never",
  },
  APPROVAL_STALE: {
    status: 409,
    message: "The digest is not that of this transaction.",
    when: "`digest` does not stand for what will be sent",
    advice: "Read the transaction again, look at what it says, and name the digest that it shows.",
    retry: "never",
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    message: "The body is larger than this route takes.",
    when: "the body exceeds the route's limit",
    advice: "Send a smaller body.",
    retry: "never",
  },
  URI_TOO_LONG: {
    status: 414,
    message: "A segment of the path is too long.",
    when: "a path parameter is longer than any identifier",
    advice: "Check the identifier.",
    retry: "never",
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    message: "The body must be sent as application/json, in UTF-8 and not compressed.",
    when: "`Content-Type` is not the one the route takes, its charset is not UTF-8, or `Content-Encoding` is set",
    advice: "Send `Content-Type: application/json` and the body as it is.",
    retry: "never",
  },
  ASSET_UNKNOWN: {
    status: 422,
    message: "There is no such asset.",
    when: "`asset` is neither a code nor a CAIP-19 id of `GET /v1/assets`",
    advice: "Use one that is listed there.",
    retry: "never",
  },
  AMOUNT_PRECISION_EXCEEDED: {
    status: 422,
    message: "The amount has more decimals than the asset.",
    when: "`amount` has more decimals than the asset; it is never rounded",
    advice: "Round it yourself.",
    retry: "never",
  },
  AMOUNT_OUT_OF_RANGE: {
    status: 422,
    message: "The amount is outside the limits of the asset.",
    when: "`amount` is below the asset's minimum or above its maximum",
    advice: "See `GET /v1/assets` for the limits.",
    retry: "never",
  },
  WALLET_UNKNOWN: {
    status: 422,
    message: "There is no such wallet.",
    when: "`source` or `destination` names a wallet that the tenant does not have",
    advice: "Check the id.",
    retry: "never",
  },
  NETWORK_UNKNOWN: {
    status: 422,
    message: "There is no such network.",
    when: "`network` is not one that this service serves",
    advice: "Leave it out, or use `book`.",
    retry: "never",
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    message: "The idempotency key was used for another request.",
    when: "a request with the same `Idempotency-Key` had another body",
    advice: "Send a new key with a new request, and the same key only with the same body.",
    retry: "never",
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    message: "The headers are too large.",
    when: "the request line and headers together exceed the limit",
    advice: "Send fewer or shorter headers.",
    retry: "never",
  },
  INTERNAL: {
    status: 500,
    message: "Something went wrong on our side.",
    when: "the service failed in a way that it did not foresee",
    advice: "Retry with the same `Idempotency-Key`; if it persists, report the `request_id`.",
    retry: "later",
  },
  OVERLOADED: {
    status: 503,
    message: "The service has more work waiting than it takes.",
    when: "too many requests wait to be written",
    advice: "Retry after `Retry-After` seconds, with the same `Idempotency-Key`.",
    retry: "later",
  },
  UNAVAILABLE: {
    status: 503,
    message: "The service cannot take this request right now.",
    when: "the database is away, or the service is starting or stopping",
    advice: "Retry after `Retry-After` seconds, with the same `Idempotency-Key`.",
    retry: "later",
  },
  ...streamErrors,
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errorCatalog;
