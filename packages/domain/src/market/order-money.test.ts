import { assert, bigInt, integer, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { createMarket, type Market } from "./market.js";
import { feeOf, limitHold, tradeMoney } from "./order-money.js";

const market = createMarket({
  baseDecimals: 18,
  quoteDecimals: 2,
  tickSize: "0.01",
  lotSize: "1",
  sizeMin: "1",
}) as Market;

describe("order money", () => {
  it("is held in quote by a buyer and in base by a seller", () => {
    expect(limitHold("buy", 250, 3, market)).toBe(750n);
    expect(limitHold("sell", 250, 3, market)).toBe(3n * 10n ** 18n);
  });

  it("pays fees from what each side receives", () => {
    expect(tradeMoney({ price: 250, size: 3 }, { buyer: 20, seller: 10 }, market)).toEqual({
      base: 3n * 10n ** 18n,
      quote: 750n,
      buyerFee: 6n * 10n ** 15n,
      sellerFee: 1n,
    });
  });

  it("rounds a fee up to a whole unit, and never above the amount", () =>
    assert(
      property(bigInt({ min: 1n, max: 10n ** 40n }), integer({ min: 0, max: 10_000 }), (amount, points) => {
        const fee = feeOf(amount, points);
        expect(fee * 10_000n).toBeGreaterThanOrEqual(amount * BigInt(points));
        expect((fee - 1n) * 10_000n).toBeLessThan(amount * BigInt(points));
        expect(fee).toBeLessThanOrEqual(amount);
      }),
    ));
});
