import type { ErrorEntry } from "./error-entry.js";

/** The errors of quotas and overload: the request itself may be valid. */
export const limitErrors = {
  QUOTA_BEYOND_OWN: {
    status: 403,
    message: "The quota exceeds both the default and the caller's own.",
    when: "`quotas` contains a value above both the service's default and the caller's own quota",
    advice: "Use a smaller value, or have the operator set it with `bursar client quota`.",
    retry: "never",
  },
  RATE_LIMITED: {
    status: 429,
    message: "The quota is exhausted.",
    when: "the client has exhausted its quota for this class of requests, or too many requests without a valid token came from its address",
    advice: "Wait `Retry-After` seconds, then send more slowly; `RateLimit` shows what is left.",
    retry: "later",
  },
  CONCURRENCY_LIMITED: {
    status: 429,
    message: "The client has too many requests or connections open.",
    when: "the client has reached the maximum number of concurrent requests or connections",
    advice: "Wait for responses before sending more, or use fewer connections.",
    retry: "later",
  },
  OVERLOADED: {
    status: 503,
    message: "The service is overloaded.",
    when: "accepted work waits too long to be written, or too many requests are queued; new work is refused before its body is read",
    advice: "Retry after `Retry-After` seconds, with the same `Idempotency-Key`.",
    retry: "later",
  },
} as const satisfies Record<string, ErrorEntry>;
