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
      const wait = throttle.failed(keys.slice(0, 1));
      pass(wait * 1000);
      if (wait > 0) expect(throttle.failed(keys.slice(0, 1))).toBe(0);
      return wait;
    });
    expect(waits).toEqual([0, 0, 1, 2, 4, 8, 16, 32, 60, 60]);
  });

  it("forgets the failures of a client after a success, and not those of its address", () => {
    const { throttle, keys, pass } = setUp();
    for (let count = 0; count < 4; count++) {
      throttle.failed([{ name: `client ${count}`, freeFailures: 2 }, ...keys.slice(1)]);
    }
    expect(throttle.failed(keys)).toBe(1);
    pass(1000);
    expect(throttle.failed(keys)).toBe(0);
    throttle.succeeded("client a");
    expect(throttle.failed(keys.slice(0, 1))).toBe(0);
    expect(throttle.failed(keys)).toBe(2);
    pass(600_000);
    expect(throttle.failed(keys)).toBe(0);
  });
});
