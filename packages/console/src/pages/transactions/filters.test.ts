import { expect, it } from "vitest";
import { knownAsset } from "./filters";

it("an asset is found in any case, and one that is unknown stays as it was typed", () => {
  const codes = ["USD", "ETH.DEV", "usd"];
  expect(knownAsset("eth.dev", codes)).toBe("ETH.DEV");
  expect(knownAsset("usd", codes)).toBe("usd");
  expect(knownAsset("Usd", codes)).toBe("USD");
  expect(knownAsset("EUR", codes)).toBe("EUR");
});
