import { describe, expect, it } from "vitest";
import { createFailureBrake } from "./failure-brake.js";

function setUp() {
  let now = 0;
  const brake = createFailureBrake(() => now);
  const keys = [
    { name: "client a", freeFailures: 2 },
    { name: "address 1", freeFailures: 4 },
  ];
  return { brake, keys, pass: (ms: number) => (now += ms) };
}

describe("the brake", () => {
  it("lets some failures pass and then asks for longer and longer pauses, up to a minute", () => {
    const { brake, keys, pass } = setUp();
    const waits = Array.from({ length: 10 }, () => {
      brake.failed(keys.slice(0, 1));
      return brake.secondsToWait(keys);
    });
    expect(waits).toEqual([0, 1, 2, 4, 8, 16, 32, 60, 60, 60]);
    pass(59_500);
    expect(brake.secondsToWait(keys)).toBe(1);
    pass(500);
    expect(brake.secondsToWait(keys)).toBe(0);
  });

  it("forgives after a success, and forgets after ten minutes", () => {
    const { brake, keys, pass } = setUp();
    for (let count = 0; count < 5; count++) brake.failed(keys);
    brake.succeeded(keys.slice(0, 1));
    expect(brake.secondsToWait(keys.slice(0, 1))).toBe(0);
    expect(brake.secondsToWait(keys)).toBe(2);
    pass(600_000);
    brake.failed(keys);
    expect(brake.secondsToWait(keys)).toBe(0);
  });
});
