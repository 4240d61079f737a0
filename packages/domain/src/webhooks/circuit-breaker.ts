/**
 * Keeps a sender from knocking at a door that does not open. After some failures in a row it opens, and nothing is sent for a
 * while; then one request at a time is let through, until one succeeds. What waits meanwhile loses no attempt.
 */
export interface CircuitBreaker {
  /** Since the last success. */
  failures: number;
  /** How often it has opened since then. */
  openings: number;
  openUntilMs: number;
}

export const closedBreaker: CircuitBreaker = { failures: 0, openings: 0, openUntilMs: 0 };

const failuresMax = 8;
const firstOpeningMs = 5_000;
const openingMaxMs = 300_000;

export function afterFailure(breaker: CircuitBreaker, nowMs: number): CircuitBreaker {
  // What was under way when it opened says nothing new.
  if (nowMs < breaker.openUntilMs) return breaker;
  const failures = breaker.failures + 1;
  if (failures < failuresMax) return { ...breaker, failures };
  const openMs = Math.min(firstOpeningMs * 2 ** breaker.openings, openingMaxMs);
  return { failures, openings: breaker.openings + 1, openUntilMs: nowMs + openMs };
}

/** How many requests may be under way at once, of those that would be otherwise. */
export function allowedRequests(breaker: CircuitBreaker, nowMs: number, concurrency: number): number {
  if (nowMs < breaker.openUntilMs) return 0;
  return breaker.openings > 0 ? 1 : concurrency;
}
