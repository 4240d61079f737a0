import { assert, bigInt, integer, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { formatAmount, parseAmount } from "./amount.js";

describe("amounts", () => {
  it.each([
    ["1", 2, 100n, "1"],
    ["1.5", 2, 150n, "1.5"],
    ["1.50", 2, 150n, "1.5"],
    ["1.500000", 2, 150n, "1.5"],
    ["0.01", 2, 1n, "0.01"],
    ["0.000000000000000001", 18, 1n, "0.000000000000000001"],
    ["7", 0, 7n, "7"],
    [`${"9".repeat(60)}.99`, 2, BigInt("9".repeat(62)), `${"9".repeat(60)}.99`],
  ])("%s with %i decimals", (text, decimals, units, canonical) => {
    expect(parseAmount(text, decimals)).toBe(units);
    expect(formatAmount(units, decimals)).toBe(canonical);
  });

  it.each([
    ["", "malformed"],
    ["0", "not_positive"],
    ["0.00", "not_positive"],
    ["-1", "malformed"],
    ["+1", "malformed"],
    ["01", "malformed"],
    [".5", "malformed"],
    ["1.", "malformed"],
    ["1e3", "malformed"],
    ["1_000", "malformed"],
    ["1,5", "malformed"],
    [" 1", "malformed"],
    ["1\n", "malformed"],
    ["0x10", "malformed"],
    ["NaN", "malformed"],
    ["Infinity", "malformed"],
    ["１", "malformed"],
    ["٣", "malformed"],
    ["1.001", "too_precise"],
    ["1".repeat(61), "malformed"],
    [`1.${"1".repeat(19)}`, "malformed"],
    ["9".repeat(100_000), "malformed"],
  ])("refuses %.20s as %s", (text, fault) => {
    expect(parseAmount(text, 2)).toBe(fault);
  });

  it("are unchanged by formatting and parsing", () =>
    assert(
      property(bigInt({ min: 1n, max: 10n ** 60n - 1n }), integer({ min: 0, max: 18 }), (units, decimals) => {
        return parseAmount(formatAmount(units, decimals), decimals) === units;
      }),
    ));
});
