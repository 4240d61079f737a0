import { expect, it } from "vitest";
import { fillPrice, subtractExactly } from "./fill-price";

it("the price of a fill is that of what it has added", () => {
  const first = { filled: "0.5", quote_filled: "1500" };
  const second = { filled: "1.11", quote_filled: "3334.34" };
  expect(fillPrice(first)).toBe("3000");
  expect(fillPrice(second)).toBe("3003.9099099");
  expect(fillPrice(second, first)).toBe("3007.11475409");
  expect(fillPrice(first, first)).toBeNull();
  expect(subtractExactly("0.3", "0.1")).toBe("0.2");
});
