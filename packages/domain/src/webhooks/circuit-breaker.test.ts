import { describe, expect, it } from "vitest";
import { afterFailure, allowedRequests, type CircuitBreaker, closedBreaker } from "./circuit-breaker.js";

const fail = (times: number, breaker: CircuitBreaker, nowMs: number): CircuitBreaker =>
  times === 0 ? breaker : fail(times - 1, afterFailure(breaker, nowMs), nowMs);

describe("the circuit breaker", () => {
  it("lets everything through while failures are few", () => {
    expect(allowedRequests(fail(7, closedBreaker, 0), 0, 4)).toBe(4);
  });

  it("opens at the eighth failure in a row, and lets one through after its time", () => {
    const open = fail(8, closedBreaker, 1000);
    expect([1000, 5999, 6000].map((nowMs) => allowedRequests(open, nowMs, 4))).toEqual([0, 0, 1]);
  });

  it("is not kept open longer by what was under way when it opened", () => {
    const open = fail(8, closedBreaker, 0);
    expect(fail(3, open, 100)).toBe(open);
  });

  it("stays open twice as long each time that a probe fails, up to five minutes", () => {
    let breaker = fail(8, closedBreaker, 0);
    const openMs: number[] = [];
    for (let probe = 0; probe < 8; probe++) {
      const probedAtMs = breaker.openUntilMs;
      breaker = afterFailure(breaker, probedAtMs);
      openMs.push(breaker.openUntilMs - probedAtMs);
    }
    expect(openMs).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000, 300_000]);
  });
});
