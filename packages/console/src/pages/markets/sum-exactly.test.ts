import { expect, it } from "vitest";
import { sumExactly } from "./sum-exactly";

it("adds decimal numbers as they are written", () => {
  expect(sumExactly(["0.1", "0.2", "10.52", "9"])).toEqual(["0.1", "0.3", "10.82", "19.82"]);
  expect(sumExactly(["1", "2"])).toEqual(["1", "3"]);
  expect(sumExactly(["0.000000000000000001", "9007199254740993"])).toEqual([
    "0.000000000000000001",
    "9007199254740993.000000000000000001",
  ]);
  expect(sumExactly([])).toEqual([]);
});
