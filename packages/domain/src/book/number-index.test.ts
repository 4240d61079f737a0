import { array, assert, boolean, constantFrom, integer, property, tuple } from "fast-check";
import { expect, it } from "vitest";
import { createNumberIndex, findRow, insertRow, numberAt, removeSlot } from "./number-index.js";
import { none } from "./rows.js";

/** How far numbers are apart: many on a page, one on each, and blocks that begin alike in their last 32 bits. */
const strides = [1, 3, 32, 997, 2 ** 37];

it("finds exactly the inserted numbers through growth and removals", () =>
  assert(
    property(
      constantFrom(...strides),
      array(tuple(integer({ min: 1, max: 3000 }), boolean()), { maxLength: 8000, size: "max" }),
      (stride, steps) => {
        const index = createNumberIndex();
        const slots = new Map<number, number>();
        for (const [step, isInsert] of steps) {
          const number = step * stride;
          const slot = slots.get(number);
          if (isInsert && slot === undefined) slots.set(number, insertRow(index, number, step * 8));
          if (isInsert || slot === undefined) continue;
          removeSlot(index, slot);
          slots.delete(number);
        }
        expect(index.count).toBe(slots.size);
        for (let step = 1; step <= 3000; step++) {
          const number = step * stride;
          const slot = slots.get(number);
          expect(findRow(index, number)).toBe(slot === undefined ? none : step * 8);
          if (slot !== undefined) expect(numberAt(index, slot)).toBe(number);
        }
      },
    ),
    { numRuns: 25 },
  ));

it("throws for a number that is already there", () => {
  const index = createNumberIndex();
  const slot = insertRow(index, 7, 0);
  expect(() => insertRow(index, 7, 8)).toThrow("order number 7 is in the book already");
  removeSlot(index, slot);
  insertRow(index, 7, 8);
  expect(findRow(index, 7)).toBe(8);
});

it("reuses pages, so that orders that come and go need no more memory", () => {
  const index = createNumberIndex();
  for (let number = 1; number < 1_000_000; number += 10) removeSlot(index, insertRow(index, number, 0));
  expect([index.pageCount, index.slots.length, index.places.length]).toEqual([0, 32 * 32, 128]);
});
