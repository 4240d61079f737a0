import { describe, expect, it } from "vitest";
import { createFailureThrottle } from "./failure-throttle.js";

function setUp() {
  let nowMs = 0;
  const throttle = createFailureThrottle(() => nowMs);
  const keys = [
    { name: "client a", freeFailures: 2 },
    { name: "address 1", freeFailures: 4 },
  ];
  return { throttle, keys, pass: (ms: number) => (nowMs += ms) };
}

describe("the throttle on failed authentications", () => {
  it("allows some attempts, then demands longer and longer pauses of up to a minute", () => {
    const { throttle, keys, pass } = setUp();
    const waits = Array.from({ length: 10 }, () => {
      const wait = throttle.attempt(keys.slice(0, 1));
      pass(wait * 1000);
      if (wait > 0) expect(throttle.attempt(keys.slice(0, 1))).toBe(0);
      return wait;
    });
    expect(waits).toEqual([0, 0, 1, 2, 4, 8, 16, 32, 60, 60]);
  });

  it("counts attempts in progress", () => {
    const { throttle, keys } = setUp();
    expect([throttle.attempt(keys), throttle.attempt(keys), throttle.attempt(keys)]).toEqual([0, 0, 1]);
  });

  it("resets the client after a success, and releases one attempt of the address", () => {
    const { throttle, keys, pass } = setUp();
    for (let count = 0; count < 4; count++) {
      throttle.attempt([{ name: `client ${count}`, freeFailures: 2 }, ...keys.slice(1)]);
    }
    expect(throttle.attempt(keys)).toBe(1);
    pass(1000);
    expect(throttle.attempt(keys)).toBe(0);
    throttle.succeeded(keys);
    expect(throttle.attempt(keys)).toBe(1);
    pass(600_000);
    expect(throttle.attempt(keys)).toBe(0);
  });

  it("does not count an attempt whose outcome is unknown", () => {
    const { throttle, keys } = setUp();
    for (let count = 0; count < 20; count++) {
      expect(throttle.attempt(keys)).toBe(0);
      throttle.withdrawn(keys);
    }
  });
});
