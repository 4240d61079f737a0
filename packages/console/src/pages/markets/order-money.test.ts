import { expect, it } from "vitest";
import { crossedPrice, feeOf, isOutsideBand, percentOf, ratesOf } from "./order-money";
import { isAlikeOrder, orderWords } from "./order-words";

it("a fee is rounded up to the last decimal of its asset, as the market does", () => {
  expect(feeOf(["0.50"], 20, 18)).toEqual({ fee: "0.001", left: "0.499" });
  expect(feeOf(["751.41"], 20, 2)).toEqual({ fee: "1.51", left: "749.9" });
  expect(feeOf(["0.01"], 20, 2)).toEqual({ fee: "0.01", left: "0" });
  // Six trades of 0.10 pay six times 0.01, and not 0.01 once.
  expect(feeOf(Array(6).fill("0.10"), 20, 2)).toEqual({ fee: "0.06", left: "0.54" });
  expect(feeOf(["100"], 0, 2)).toEqual({ fee: "0", left: "100" });
  for (const typed of ["", "1,000", "1e3", "0.001"]) expect(feeOf([typed], 20, 2)).toBeUndefined();
  expect([percentOf(20), percentOf(5), percentOf(100)]).toEqual(["0.2", "0.05", "1"]);
});

it("an order pays the rate of makers only if it can rest in the book", () => {
  const fees = { maker_fee_basis_points: 10, taker_fee_basis_points: 20 };
  expect(ratesOf(fees, "gtc")).toEqual({ taker: 20, maker: 10 });
  expect(ratesOf(fees, "post_only")).toEqual({ maker: 10 });
  for (const timeInForce of ["ioc", "fok", undefined] as const)
    expect(ratesOf(fees, timeInForce)).toEqual({ taker: 20 });
});

it("an order trades at once if its price reaches the best of the other side", () => {
  const book = { bids: [["3000", "1"]] as [string, string][], asks: [["3010.5", "1"]] as [string, string][] };
  expect(crossedPrice({ side: "sell", price: "2900" }, book)).toBe("3000");
  expect(crossedPrice({ side: "sell", price: "3000.00" }, book)).toBe("3000");
  expect(crossedPrice({ side: "buy", price: "3010.50" }, book)).toBe("3010.5");
  for (const price of ["3010.49", "", "x"])
    expect(crossedPrice({ side: "buy", price }, book)).toBeUndefined();
  expect(crossedPrice({ side: "buy" }, book)).toBeUndefined();
  expect(crossedPrice({ side: "buy", price: "9999" }, undefined)).toBeUndefined();
});

it("an order is like another with its reference, or with its size on the same side of the market", () => {
  const order = { market: "ETH-USD", side: "buy", size: "0.50", price: "2000" } as const;
  expect(isAlikeOrder(order, { ...order, size: "0.5", price: "2001" })).toBe(true);
  expect(isAlikeOrder({ ...order, reference: "x" }, { ...order, size: "9", reference: "x" })).toBe(true);
  expect(isAlikeOrder(order, { ...order, size: "9" })).toBe(false);
  expect(isAlikeOrder(order, { ...order, side: "sell" })).toBe(false);
  expect(isAlikeOrder(order, { ...order, market: "BTC-USD" })).toBe(false);
  const bought = { market: "ETH-USD", side: "buy", type: "market", quote_size: "1600" } as const;
  expect(isAlikeOrder(bought, { ...bought, quote_size: "1600.00" })).toBe(true);
  expect(isAlikeOrder(bought, { ...bought, quote_size: "1700" })).toBe(false);
  expect(isAlikeOrder({ ...bought, size: "0.5" }, { ...bought, size: "0.5", quote_size: "1700" })).toBe(true);
});

it("an order is named with its size and the most that it may spend", () => {
  const bought = { market: "ETH-USD", side: "buy", type: "market", quote_size: "1600" } as const;
  expect(orderWords.nameOf(bought)).toBe("to buy for at most 1600 in ETH-USD at the market price");
  expect(orderWords.nameOf({ ...bought, size: "0.5" })).toBe(
    "to buy 0.5 for at most 1600 in ETH-USD at the market price",
  );
});

it("a price is outside of the band below and above it, and not at its ends", () => {
  const band = { price_min: "2700", price_max: "3300" };
  const outside = (price: string | undefined) => isOutsideBand(price, band);
  expect(["2699.99", "3300.01", "9000"].map(outside)).toEqual([true, true, true]);
  expect(["2700.00", "3300", "3000", "x", undefined].map(outside)).toEqual(Array(5).fill(false));
  expect(isOutsideBand("1", { price_min: null, price_max: null })).toBe(false);
});
