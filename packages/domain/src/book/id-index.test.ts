import { array, assert, boolean, integer, property, tuple } from "fast-check";
import { describe, expect, it } from "vitest";
import { createIdIndex, findRow, hashId, insertRow, removeRow } from "./id-index.js";
import { none } from "./order-table.js";

describe("the index of ids", () => {
  it("finds what is there and nothing else, through growth and removals", () =>
    assert(
      property(
        array(tuple(integer({ min: 0, max: 3000 }), boolean()), { maxLength: 8000, size: "max" }),
        (steps) => {
          const index = createIdIndex();
          const ids = Array.from({ length: 3001 }, (_, row) => `order-${row}`);
          const wanted = new Set<number>();
          for (const [row, isInsert] of steps) {
            const id = ids[row] as string;
            if (isInsert && !wanted.has(row)) insertRow(index, hashId(id), row);
            if (!isInsert && wanted.has(row)) removeRow(index, hashId(id), row);
            if (isInsert) wanted.add(row);
            else wanted.delete(row);
          }
          expect(index.count).toBe(wanted.size);
          for (const [row, id] of ids.entries())
            expect(findRow(index, ids, id, hashId(id))).toBe(wanted.has(row) ? row : none);
        },
      ),
      { numRuns: 10 },
    ));

  it("keeps ids apart whose ends are the same", () => {
    const ids = ["a-0123456789abcdef", "b-0123456789abcdef", "c-0123456789abcdef"];
    const index = createIdIndex();
    for (const [row, id] of ids.entries()) insertRow(index, hashId(id), row);
    removeRow(index, hashId(ids[0] as string), 0);
    expect(ids.map((id) => findRow(index, ids, id, hashId(id)))).toEqual([none, 1, 2]);
  });
});
