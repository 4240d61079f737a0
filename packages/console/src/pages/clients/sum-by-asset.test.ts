import { expect, it } from "vitest";
import { sumByAsset } from "./sum-by-asset";

it("adds amounts of each asset exactly", () => {
  const rows = [
    { asset: "USD", amount: "0.1" },
    { asset: "ETH", amount: "0.000000000000000001" },
    { asset: "USD", amount: "0.2" },
  ];
  expect(sumByAsset(rows)).toEqual([
    { asset: "ETH", amount: "0.000000000000000001" },
    { asset: "USD", amount: "0.3" },
  ]);
  expect(sumByAsset([])).toEqual([]);
});
