/**
 * Stops requests to an endpoint that keeps failing. After several consecutive failures it opens, and nothing is sent for a while; then one
 * request at a time is sent as a probe, until one succeeds. Deliveries that wait meanwhile lose no attempt.
 */
export interface CircuitBreaker {
  /** The number of failures since the last success. */
  failures: number;
  /** The number of times that it has opened since the last success. */
  openings: number;
  openUntilMs: number;
}

export const closedBreaker: CircuitBreaker = { failures: 0, openings: 0, openUntilMs: 0 };

const failuresMax = 8;

/** For an endpoint that was failing when it was last tried: one request decides whether it is tried further. */
export const probingBreaker: CircuitBreaker = { failures: failuresMax - 1, openings: 1, openUntilMs: 0 };
const firstOpeningMs = 5_000;
const openingMaxMs = 300_000;

export function afterFailure(breaker: CircuitBreaker, nowMs: number): CircuitBreaker {
  // A failure of a request that was in flight when it opened is no new evidence.
  if (nowMs < breaker.openUntilMs) return breaker;
  const failures = breaker.failures + 1;
  if (failures < failuresMax) return { ...breaker, failures };
  const openMs = Math.min(firstOpeningMs * 2 ** breaker.openings, openingMaxMs);
  return { failures, openings: breaker.openings + 1, openUntilMs: nowMs + openMs };
}

/** The number of requests that may be in flight at once, out of the normal maximum. */
export function allowedRequests(breaker: CircuitBreaker, nowMs: number, concurrency: number): number {
  if (nowMs < breaker.openUntilMs) return 0;
  return breaker.openings > 0 ? 1 : concurrency;
}
