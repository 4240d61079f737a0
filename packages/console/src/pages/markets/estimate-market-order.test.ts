import { expect, it } from "vitest";
import { estimateMarketOrder } from "./estimate-market-order";

const market = { price_min: "2700", price_max: "3300", lot_size: "0.01" };
const book = {
  bids: [
    ["3004.01", "1"],
    ["3003.00", "0.5"],
    ["2600", "9"],
  ] as [string, string][],
  asks: [
    ["3010.50", "0.25"],
    ["3011", "2"],
  ] as [string, string][],
};
const buy = (order: { size?: string; quote_size?: string }) =>
  estimateMarketOrder({ side: "buy", ...order }, book, market);
const sell = (size: string) => estimateMarketOrder({ side: "sell", size }, book, market);

it("a market order is estimated over the levels that it would take", () => {
  expect(sell("1.11")).toEqual({
    size: "1.11",
    end: "filled",
    total: "3334.34",
    average: { price: "3003.9099099", isExact: false },
    worst: "3003.00",
    parts: [
      { size: "1", total: "3004.01" },
      { size: "0.11", total: "330.33" },
    ],
  });
  expect(sell("1.00")).toMatchObject({ end: "filled", average: { price: "3004.01", isExact: true } });
});

it("an estimate ends where the book or the price band ends", () => {
  expect(sell("5")).toMatchObject({ size: "1.5", end: "book", worst: "3003.00" });
  const free = { ...market, price_min: null, price_max: null };
  expect(estimateMarketOrder({ side: "sell", size: "5" }, book, free)).toMatchObject({ end: "filled" });
  expect(buy({ size: "5", quote_size: "99999" })).toMatchObject({ size: "2.25", end: "book" });
  expect(buy({ quote_size: "99999" })).toMatchObject({ size: "2.25", end: "book" });
});

it("a market order that buys spends no more than it may, in whole steps of the size", () => {
  expect(buy({ size: "0.25", quote_size: "5000" })).toMatchObject({
    end: "filled",
    total: "752.625",
    average: { price: "3010.5", isExact: true },
    worst: "3010.50",
  });
  // What is left after the first level pays for 0.0824 more.
  expect(buy({ quote_size: "1000.74" })).toMatchObject({ size: "0.33", end: "spent", total: "993.505" });
  expect(buy({ size: "1", quote_size: "1000.74" })).toMatchObject({ size: "0.33", end: "spent" });
  expect(buy({ size: "0.33", quote_size: "1000.74" })).toMatchObject({ end: "filled" });
  expect(buy({ quote_size: "30" })).toEqual({
    size: "0",
    end: "spent",
    total: "0",
    average: null,
    worst: "3010.50",
    parts: [],
  });
});

it("an estimate ends at the first order of the tenant itself, which would not be traded with", () => {
  const to = (order: { side: "buy" | "sell"; size: string }, own: string) =>
    estimateMarketOrder(order, book, market, own);
  expect(to({ side: "sell", size: "1.11" }, "3003")).toMatchObject({
    size: "1",
    end: "own",
    worst: "3004.01",
  });
  expect(to({ side: "sell", size: "1" }, "3003")).toMatchObject({ size: "1", end: "filled" });
  expect(to({ side: "buy", size: "1" }, "3010.5")).toEqual({
    size: "0",
    end: "own",
    total: "0",
    average: null,
    worst: "3010.50",
    parts: [],
  });
  // One that the book has no longer, or not yet, is in front of what is behind it.
  expect(to({ side: "buy", size: "1" }, "3010.75")).toMatchObject({ size: "0.25", end: "own" });
});

it("nothing is estimated without a book, without offers, or for what is no number", () => {
  expect(estimateMarketOrder({ side: "buy", size: "1" }, undefined, market)).toBeUndefined();
  expect(estimateMarketOrder({ side: "buy", size: "1" }, { bids: [], asks: [] }, market)).toBeUndefined();
  for (const typed of ["", "0", "1,5", "x", "1e3"]) {
    expect(buy({ size: typed, quote_size: "100" })).toBeUndefined();
    expect(buy({ size: "1", quote_size: typed })).toBeUndefined();
  }
  expect(buy({})).toBeUndefined();
});
