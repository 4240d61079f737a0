import { expect, it } from "vitest";
import { faultsOfOrder } from "./order-faults";

const market = { tick_size: "0.01", lot_size: "0.001" };
const none = { price: "", size: "", quoteSize: "" };

it.each(["2900,5", "-5", "1e3", "+1", "0x10", " 1", ".5", "5."])("%j is no number of an order", (text) => {
  const fault = "must be a decimal number with a point, such as 125.50";
  for (const name of ["price", "size", "quoteSize"] as const)
    expect(faultsOfOrder({ ...none, [name]: text }, market)).toEqual({ [name]: fault });
});

it("prices and sizes are multiples of the steps of the market", () => {
  expect(faultsOfOrder({ price: "2900.005", size: "0.0005", quoteSize: "0.0001" }, market)).toEqual({
    price: "must be a multiple of 0.01",
    size: "must be a multiple of 0.001",
  });
  expect(faultsOfOrder({ price: "2900.5", size: "12.001", quoteSize: "7" }, market)).toEqual({});
});

it("nothing and too much are refused, and what is empty is left alone", () => {
  expect(faultsOfOrder({ ...none, price: "0.00", size: "9".repeat(70) }, market)).toEqual({
    price: "must be more than zero",
    size: "has more digits than there can be",
  });
  expect(faultsOfOrder(none, market)).toEqual({});
});
