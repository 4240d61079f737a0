import { expect, it } from "vitest";
import { estimateMarketOrder } from "./estimate-market-order";

const market = { price_min: "2700", price_max: "3300", tick_size: "0.01" };
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

it("a market order is estimated over the levels that it would take", () => {
  expect(estimateMarketOrder({ side: "sell", size: "1.11" }, book, market)).toEqual({
    size: "1.11",
    isWhole: true,
    total: "3334.34",
    average: "3003.91",
    worst: "3003.00",
  });
  expect(estimateMarketOrder({ side: "buy", size: "0.25" }, book, market)).toMatchObject({
    total: "752.625",
    average: "3010.5",
    worst: "3010.50",
  });
});

it("an estimate ends where the book or the price band ends", () => {
  expect(estimateMarketOrder({ side: "sell", size: "5" }, book, market)).toMatchObject({
    size: "1.5",
    isWhole: false,
    worst: "3003.00",
  });
  const free = { ...market, price_min: null, price_max: null };
  expect(estimateMarketOrder({ side: "sell", size: "5" }, book, free)).toMatchObject({ isWhole: true });
  expect(estimateMarketOrder({ side: "buy", size: "5" }, book, market)).toMatchObject({ size: "2.25" });
});

it("nothing is estimated without a book, without offers, or for what is no size", () => {
  expect(estimateMarketOrder({ side: "buy", size: "1" }, undefined, market)).toBeUndefined();
  expect(estimateMarketOrder({ side: "buy", size: "1" }, { bids: [], asks: [] }, market)).toBeUndefined();
  for (const size of ["", "0", "1,5", "x", "1e3"])
    expect(estimateMarketOrder({ side: "buy", size }, book, market)).toBeUndefined();
});
