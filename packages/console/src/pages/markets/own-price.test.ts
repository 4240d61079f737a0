import { expect, it } from "vitest";
import { ownPriceInReach } from "./own-price";

const orders = [
  { side: "sell", state: "open", price: "2011" },
  { side: "sell", state: "partially_filled", price: "2010.50" },
  { side: "sell", state: "pending", price: "2000" },
  { side: "buy", state: "open", price: "1990" },
  { side: "buy", state: "open", price: "1995" },
] as const;

it("an order that comes meets the best order of its tenant on the other side, within its limit", () => {
  expect(ownPriceInReach({ side: "buy" }, orders)).toBe("2010.50");
  expect(ownPriceInReach({ side: "sell" }, orders)).toBe("1995");
  expect(ownPriceInReach({ side: "buy", price: "2010.5" }, orders)).toBe("2010.50");
  expect(ownPriceInReach({ side: "buy", price: "2010.49" }, orders)).toBeUndefined();
  expect(ownPriceInReach({ side: "sell", price: "1995" }, orders)).toBe("1995");
  expect(ownPriceInReach({ side: "sell", price: "1996" }, orders)).toBeUndefined();
});

it("nothing is met if no order is known, or if the limit is no price", () => {
  expect(ownPriceInReach({ side: "buy" }, undefined)).toBeUndefined();
  expect(ownPriceInReach({ side: "buy" }, [])).toBeUndefined();
  for (const price of ["", "x"]) expect(ownPriceInReach({ side: "buy", price }, orders)).toBeUndefined();
});
