import { describe, expect, it } from "vitest";
import { agreedAmount } from "./agreed-amount.js";

describe("the amount that several nodes name", () => {
  it("is the median of three, whatever one of them says", () => {
    for (const lie of [0n, 21_000n, 3_000_000n])
      expect(agreedAmount([lie, 50_000n, 51_000n])).toBeLessThanOrEqual(51_000n);
    expect(agreedAmount([21_000n, 51_000n, 50_000n])).toBe(50_000n);
    expect(agreedAmount([3_000_000n, 51_000n, 50_000n])).toBe(51_000n);
  });

  it("is the higher one of two, unless it is more than twice the lower one", () => {
    expect(agreedAmount([50_000n, 51_000n])).toBe(51_000n);
    expect(agreedAmount([50_000n, 100_001n])).toBeUndefined();
    expect(agreedAmount([0n, 1n])).toBeUndefined();
    expect(agreedAmount([0n, 0n])).toBe(0n);
  });

  it("is what the only node says, and unknown without one", () => {
    expect(agreedAmount([7n])).toBe(7n);
    expect(agreedAmount([])).toBeUndefined();
  });
});
