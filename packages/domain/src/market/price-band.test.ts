import { describe, expect, it } from "vitest";
import { bandAfter, boundOrder, centreOf, type MarketPrices, priceRange, restoreBand } from "./price-band.js";

const start = restoreBand(null, 1000);
const trade = (price: number, makerOwner: string, takerOwner: string) => ({ price, makerOwner, takerOwner });

describe("the centre of a price band", () => {
  it("is the reference price before anybody has traded", () => {
    expect(centreOf(start)).toBe(1000);
  });

  it("is not moved by two tenants that trade with each other again and again", () => {
    let band = start;
    for (let price = 999; price > 1; price = Math.floor(price * 0.9))
      band = bandAfter(band, [trade(price, "a", "b"), trade(price, "b", "a")]);
    expect(centreOf(band)).toBe(1000);
    expect(band.prices).toHaveLength(2);
  });

  it("is not moved by two tenants where others have traded before", () => {
    let band = bandAfter(start, [trade(1100, "c", "d"), trade(1100, "e", "f"), trade(1100, "g", "h")]);
    expect(centreOf(band)).toBe(1100);
    for (let step = 0; step < 100; step++) band = bandAfter(band, [trade(990, "a", "b")]);
    expect(centreOf(band)).toBe(1100);
  });

  it("follows trades of three tenants, as with a market maker and two others", () => {
    const band = bandAfter(start, [trade(1080, "maker", "a"), trade(1090, "maker", "b")]);
    expect(centreOf(band)).toBe(1080);
    expect(centreOf(bandAfter(band, [trade(1170, "maker", "a"), trade(1170, "maker", "b")]))).toBe(1170);
  });

  it("does not depend on how trades are gathered into batches", () => {
    const trades = [
      trade(990, "a", "b"),
      trade(1010, "c", "a"),
      trade(1020, "d", "e"),
      trade(1030, "b", "f"),
    ];
    const oneByOne = trades.reduce((band, one) => bandAfter(band, [one]), start);
    expect(bandAfter(start, trades)).toEqual(oneByOne);
  });

  it("starts again when the reference price is changed", () => {
    const band = bandAfter(start, [trade(1080, "maker", "a"), trade(1090, "maker", "b")]);
    expect(restoreBand(band, 1000)).toEqual(band);
    expect(centreOf(restoreBand(band, 500))).toBe(500);
  });
});

describe("the range of a price band", () => {
  it.each([
    [1000, 1000, { min: 900, max: 1100 }],
    [1001, 1000, { min: 901, max: 1101 }],
    [3, 1000, { min: 2, max: 4 }],
    [1, 1000, { min: 1, max: 2 }],
    [1000, 10_000, { min: 1, max: 2000 }],
    [1000, 1_000_000, { min: 1, max: 101_000 }],
    [Number.MAX_SAFE_INTEGER, 1000, { min: 8106479329266892, max: Number.MAX_SAFE_INTEGER }],
  ])("around %d with %d basis points is %o", (centre, basisPoints, range) => {
    expect(priceRange(centre, basisPoints)).toEqual(range);
  });
});

describe("an order", () => {
  const prices: MarketPrices = {
    range: { min: 900, max: 1100 },
    bestBid: 990,
    bestAsk: 1010,
    slippageBasisPoints: 500,
  };
  const sell = (price: number | null, more: Partial<MarketPrices> = {}) =>
    boundOrder({ side: "sell", price }, { ...prices, ...more });
  const buy = (price: number | null, more: Partial<MarketPrices> = {}) =>
    boundOrder({ side: "buy", price }, { ...prices, ...more });

  it("with a price must have one within the range, whatever its side", () => {
    for (const price of [900, 1000, 1100])
      expect([sell(price), buy(price)]).toEqual([{ priceLimit: null }, { priceLimit: null }]);
    for (const price of [1, 899, 1101])
      expect([sell(price), buy(price)]).toEqual(["out_of_band", "out_of_band"]);
  });

  it("without a price trades up to its slippage beyond the best price", () => {
    expect([sell(null), buy(null)]).toEqual([{ priceLimit: 941 }, { priceLimit: 1060 }]);
  });

  it("without a price never trades outside the range", () => {
    expect(sell(null, { bestBid: 910 })).toEqual({ priceLimit: 900 });
    expect(buy(null, { bestAsk: 1090 })).toEqual({ priceLimit: 1100 });
    expect([sell(null, { bestBid: undefined }), buy(null, { bestAsk: undefined })]).toEqual([
      { priceLimit: 900 },
      { priceLimit: 1100 },
    ]);
    expect([sell(null, { bestBid: 899 }), buy(null, { bestAsk: 1101 })]).toEqual([
      "out_of_band",
      "out_of_band",
    ]);
  });
});
