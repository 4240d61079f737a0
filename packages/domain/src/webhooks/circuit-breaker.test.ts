import { describe, expect, it } from "vitest";
import { afterFailure, allowedRequests, type CircuitBreaker, closedBreaker } from "./circuit-breaker.js";

const fail = (times: number, breaker: CircuitBreaker, nowMs: number): CircuitBreaker =>
  times === 0 ? breaker : fail(times - 1, afterFailure(breaker, nowMs), nowMs);

describe("the circuit breaker", () => {
  it("stays closed while there are few failures", () => {
    expect(allowedRequests(fail(7, closedBreaker, 0), 0, 4)).toBe(4);
  });

  it("opens at the eighth consecutive failure, and admits one probe after its delay", () => {
    const open = fail(8, closedBreaker, 1000);
    expect([1000, 5999, 6000].map((nowMs) => allowedRequests(open, nowMs, 4))).toEqual([0, 0, 1]);
  });

  it("does not stay open longer because of requests that were in flight when it opened", () => {
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
