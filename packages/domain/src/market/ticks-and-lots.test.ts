import { assert, integer, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { createMarket, type Market, type MarketTerms } from "./market.js";
import {
  baseUnitsOfLots,
  formatPrice,
  formatSize,
  lotsFromBaseUnits,
  parsePrice,
  parseSize,
  quoteUnitsOf,
  tickLotsFromQuoteUnits,
} from "./ticks-and-lots.js";

/** ETH for USDC: a lot of 0.0001 ETH at a price of one cent is one millionth of a dollar, USDC's base unit. */
const terms: MarketTerms = {
  baseDecimals: 18,
  quoteDecimals: 6,
  tickSize: "0.01",
  lotSize: "0.0001",
  sizeMin: "0.001",
};
const marketOf = (changes: Partial<MarketTerms> = {}): Market => {
  const market = createMarket({ ...terms, ...changes });
  if ("refused" in market) throw new Error(market.refused);
  return market;
};
const market = marketOf();

describe("a market", () => {
  it.each([
    [{ tickSize: "0" }, "tick_size_malformed"],
    [{ tickSize: "a cent" }, "tick_size_malformed"],
    [{ lotSize: "-1" }, "lot_size_malformed"],
    [{ lotSize: "0.0000000000000000001" }, "lot_size_malformed"],
    [{ sizeMin: "0.00015" }, "size_min_not_in_lots"],
    [{ sizeMin: "1".padEnd(40, "0") }, "size_min_not_in_lots"],
    [{ quoteDecimals: 2 }, "tick_lot_not_whole"],
    [{ tickSize: "0.001" }, "tick_lot_not_whole"],
  ])("with %j is refused as %s", (changes, refused) => {
    expect(createMarket({ ...terms, ...changes })).toEqual({ refused });
  });

  it("may have prices finer than its quote asset if lots are large enough to be paid exactly", () => {
    const fine = marketOf({
      baseDecimals: 0,
      quoteDecimals: 2,
      tickSize: "0.0001",
      lotSize: "100",
      sizeMin: "100",
    });
    expect(quoteUnitsOf(3, 7, fine)).toBe(21n);
    expect(formatPrice(3, fine)).toBe("0.0003");
    expect(formatSize(7, fine)).toBe("700");
  });
});

describe("prices and sizes", () => {
  it.each([
    ["3120.55", 312_055, "3120.55"],
    ["3120.5", 312_050, "3120.50"],
    ["1", 100, "1.00"],
    ["90071992547409.91", Number.MAX_SAFE_INTEGER, "90071992547409.91"],
  ])("a price of %s is %i ticks", (text, ticks, written) => {
    expect(parsePrice(text, market)).toBe(ticks);
    expect(formatPrice(ticks, market)).toBe(written);
  });

  it.each([
    ["3120.555", "not_in_ticks"],
    ["0.0000000000000000001", "malformed"],
    ["0", "not_positive"],
    ["-1", "malformed"],
    ["1e2", "malformed"],
    ["90071992547409.92", "too_large"],
  ])("a price of %s is refused as %s", (text, fault) => {
    expect(parsePrice(text, market)).toBe(fault);
  });

  it.each([
    ["0.00015", "not_in_lots"],
    ["0.0000000000000000001", "malformed"],
    ["0.0009", "below_minimum"],
    ["0", "not_positive"],
    ["900719925474.0992", "too_large"],
  ])("a size of %s is refused as %s", (text, fault) => {
    expect(parseSize(text, market)).toBe(fault);
  });

  it("reports a size more precise than its asset as not in lots", () => {
    const whole = marketOf({ baseDecimals: 0, quoteDecimals: 6, lotSize: "1", sizeMin: "1" });
    expect(parseSize("1.5", whole)).toBe("not_in_lots");
  });

  it("survive a round trip, and base units with them", () =>
    assert(
      property(integer({ min: 10, max: Number.MAX_SAFE_INTEGER }), (whole) => {
        return (
          parsePrice(formatPrice(whole, market), market) === whole &&
          parseSize(formatSize(whole, market), market) === whole &&
          lotsFromBaseUnits(baseUnitsOfLots(whole, market), market) === whole
        );
      }),
    ));

  it("refuses base units that are not whole lots", () => {
    expect(lotsFromBaseUnits(10n ** 14n + 1n, market)).toBe("not_in_lots");
    expect(lotsFromBaseUnits(0n, market)).toBe("not_positive");
  });
});

describe("what a trade costs", () => {
  it("is exact at any size", () => {
    expect(quoteUnitsOf(312_055, 10_000, market)).toBe(3_120_550_000n);
    const most = Number.MAX_SAFE_INTEGER;
    expect(quoteUnitsOf(most, most, market)).toBe(BigInt(most) * BigInt(most));
  });

  it("is never more than a spending limit, which is rounded down", () => {
    const coarse = marketOf({ tickSize: "1", lotSize: "0.01", sizeMin: "0.01" });
    expect(coarse.tickLotUnits).toBe(10_000n);
    expect(tickLotsFromQuoteUnits(29_999n, coarse)).toBe(2n);
    expect(tickLotsFromQuoteUnits(30_000n, coarse)).toBe(3n);
  });
});
