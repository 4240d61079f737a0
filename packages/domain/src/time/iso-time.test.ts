import { array, assert, constantFrom, date, integer, oneof, property } from "fast-check";
import { expect, it } from "vitest";
import { isoTime } from "./iso-time.js";

it("is what toISOString gives, in whatever order times are asked for", () => {
  const near = integer({ min: -2500, max: 2500 }).map((ms) => new Date(ms));
  const ends = constantFrom(new Date(8.64e15), new Date(-8.64e15), new Date("-000001-12-31T23:59:59.999Z"));
  return assert(
    property(array(oneof(date({ noInvalidDate: true }), near, ends)), (dates) => {
      for (const one of dates) expect(isoTime(one)).toBe(one.toISOString());
    }),
  );
});

it("refuses what is no time", () => {
  expect(() => isoTime(new Date(Number.NaN))).toThrow(RangeError);
});
