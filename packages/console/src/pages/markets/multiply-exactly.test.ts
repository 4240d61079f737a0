import { expect, it } from "vitest";
import { multiplyExactly } from "./multiply-exactly";

it("multiplies decimal numbers as they are written", () => {
  expect(multiplyExactly("2950", "1.50")).toBe("4425");
  expect(multiplyExactly("0.1", "0.2")).toBe("0.02");
  expect(multiplyExactly("9007199254740993", "1.000000000000000001")).toBe(
    "9007199254740993.009007199254740993",
  );
  expect(multiplyExactly("100", "0")).toBe("0");
});

it("has no product of what is not a number", () => {
  for (const typed of ["", "1,000", "-1", "1e3", ".5", "1."])
    expect([typed, multiplyExactly(typed, "2"), multiplyExactly("2", typed)]).toEqual([
      typed,
      undefined,
      undefined,
    ]);
});
