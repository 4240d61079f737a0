import type { ErrorEntry } from "./error-entry.js";

/** The errors of quotas and overload: the request itself may be valid. */
export const limitErrors = {
  QUOTA_BEYOND_OWN: {
    status: 403,
    message: "The quota exceeds both the default and the caller's own.",
    when: "`quotas` contains a value above both the service's default and the caller's own quota",
    advice: "Use a smaller value, or have the operator set it with `bursar client quota`.",
    forPeople: "Use a smaller value, or ask the operator, who can set it.",
    retry: "never",
  },
  CLIENT_LIMIT_REACHED: {
    status: 409,
    message: "The tenant has reached the maximum number of clients.",
    when: "the tenant already has as many clients as `limits.clients_per_tenant` allows, disabled ones included",
    advice: "Reuse a client that is not needed, or ask the operator to raise the limit.",
    retry: "never",
  },
  RATE_LIMITED: {
    status: 429,
    message: "The quota is exhausted.",
    when: "the client, or all clients of its tenant together, have exhausted the quota for this class of requests, or too many requests without a valid token came from its address",
    advice:
      "Wait `Retry-After` seconds, then send more slowly; `RateLimit` shows what is left. A large request costs more.",
    forPeople: "Wait a moment, then try again.",
    retry: "later",
  },
  CONCURRENCY_LIMITED: {
    status: 429,
    message: "The client has too many requests or connections open.",
    when: "the client has reached the maximum number of concurrent requests or connections, or too many large requests of its tenant are waiting",
    advice: "Wait for responses before sending more, or use fewer connections.",
    forPeople: "Wait a moment, close tabs of this console that you do not need, and try again.",
    retry: "later",
  },
  OVERLOADED: {
    status: 503,
    message: "The service is overloaded.",
    when: "accepted work waits too long to be written, or too many requests are queued; new work is refused before its body is read, first that of the tenants that use most",
    advice: "Retry after `Retry-After` seconds, with the same `Idempotency-Key`.",
    forPeople: "The service is busy. Try again in a moment; nothing that you typed is lost.",
    retry: "later",
  },
} as const satisfies Record<string, ErrorEntry>;
