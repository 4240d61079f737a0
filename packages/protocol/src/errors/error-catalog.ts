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
  NOT_FOUND: {
    status: 404,
    message: "There is nothing at this path.",
    when: "no route has this path",
    advice: "Compare the path with the API reference.",
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
  UNAVAILABLE: {
    status: 503,
    message: "The service cannot take this request right now.",
    when: "the database is away, or the service is starting or stopping",
    advice: "Retry after `Retry-After` seconds, with the same `Idempotency-Key`.",
    retry: "later",
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errorCatalog;
