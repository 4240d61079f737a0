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
  it("lets some attempts pass and then asks for longer and longer pauses, up to a minute", () => {
    const { brake, keys, pass } = setUp();
    const waits = Array.from({ length: 10 }, () => {
      const wait = brake.attempt(keys.slice(0, 1));
      pass(wait * 1000);
      if (wait > 0) expect(brake.attempt(keys.slice(0, 1))).toBe(0);
      return wait;
    });
    expect(waits).toEqual([0, 0, 1, 2, 4, 8, 16, 32, 60, 60]);
  });

  it("counts attempts that are under way", () => {
    const { brake, keys } = setUp();
    expect([brake.attempt(keys), brake.attempt(keys), brake.attempt(keys)]).toEqual([0, 0, 1]);
  });

  it("forgives the client after a success, and the address that one attempt", () => {
    const { brake, keys, pass } = setUp();
    for (let count = 0; count < 4; count++) {
      brake.attempt([{ name: `client ${count}`, freeFailures: 2 }, ...keys.slice(1)]);
    }
    expect(brake.attempt(keys)).toBe(1);
    pass(1000);
    expect(brake.attempt(keys)).toBe(0);
    brake.succeeded(keys);
    expect(brake.attempt(keys)).toBe(1);
    pass(600_000);
    expect(brake.attempt(keys)).toBe(0);
  });

  it("forgets an attempt of which nobody knows whether it was good", () => {
    const { brake, keys } = setUp();
    for (let count = 0; count < 20; count++) {
      expect(brake.attempt(keys)).toBe(0);
      brake.withdrawn(keys);
    }
  });
});
