import type { ErrorEntry } from "./error-entry.js";

/** The errors of quotas and overload: the request itself may be perfect. */
export const limitErrors = {
  QUOTA_BEYOND_OWN: {
    status: 403,
    message: "A client can be given no larger quota than the service's default or the caller's own.",
    when: "`quotas` asks for more than the default and more than the caller has itself",
    advice: "Ask for less, or let the operator set it with `bursar client quota`.",
    retry: "never",
  },
  RATE_LIMITED: {
    status: 429,
    message: "The quota is used up.",
    when: "the client has used up its quota for this class of requests, or too many requests without a good token came from its address",
    advice: "Wait `Retry-After` seconds, then go on more slowly; `RateLimit` says what is left.",
    retry: "later",
  },
  CONCURRENCY_LIMITED: {
    status: 429,
    message: "Too many requests or connections of this client are open at once.",
    when: "the client has as many requests in progress, or as many connections, as one client may have",
    advice: "Wait for answers before sending more, or use fewer connections.",
    retry: "later",
  },
  OVERLOADED: {
    status: 503,
    message: "The service has more work waiting than it takes.",
    when: "what was accepted waits too long to be written, or too many requests wait; new work is refused before it is read",
    advice: "Retry after `Retry-After` seconds, with the same `Idempotency-Key`.",
    retry: "later",
  },
} as const satisfies Record<string, ErrorEntry>;
