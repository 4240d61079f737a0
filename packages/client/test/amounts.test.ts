import { compare, fromUnits, isBursarError, toUnits } from "@bursar/client";
import { describe, expect, it } from "vitest";

describe("amounts", () => {
  it.each([
    ["125.50", 2, 12550n, "125.5"],
    ["0", 0, 0n, "0"],
    ["0.000000000000000001", 18, 1n, "0.000000000000000001"],
    ["-3.10", 2, -310n, "-3.1"],
    ["9".repeat(60), 18, BigInt("9".repeat(60)) * 10n ** 18n, "9".repeat(60)],
  ])("%s with %i decimals becomes base units and comes back", (amount, decimals, units, canonical) => {
    expect(toUnits(amount, decimals)).toBe(units);
    expect(fromUnits(units, decimals)).toBe(canonical);
  });

  it.each(["", "1.", ".5", "01", "1e3", "1,5", " 1", "1.0000000000000000001", 5])(
    "%j is refused",
    (amount) => {
      expect(() => toUnits(amount as string, 2)).toThrow(
        expect.toSatisfy((error) => isBursarError(error, "INVALID_ARGUMENT")),
      );
    },
  );

  it("more decimals than the asset has are refused, never rounded", () => {
    expect(() => toUnits("1.005", 2)).toThrow(/more than 2 decimals/);
  });

  it("compares by value", () => {
    expect(["10", "9.5", "9.50", "-1"].sort(compare)).toEqual(["-1", "9.5", "9.50", "10"]);
  });
});
