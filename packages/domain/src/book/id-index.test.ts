import { array, assert, boolean, integer, property, tuple } from "fast-check";
import { describe, expect, it } from "vitest";
import { type BookRows, createBookRows, none, takeRow } from "./book-rows.js";
import { createIdIndex, findRow, hashId, insertRow, removeRow } from "./id-index.js";

/** Rows that hold these ids, in this order. */
function rowsOf(ids: string[]): { rows: BookRows; taken: number[] } {
  const rows = createBookRows();
  const taken = ids.map((id) => {
    const row = takeRow(rows);
    rows.texts[row >> 2] = id;
    return row;
  });
  return { rows, taken };
}

describe("the index of ids", () => {
  it("finds what is there and nothing else, through growth and removals", () =>
    assert(
      property(
        array(tuple(integer({ min: 0, max: 3000 }), boolean()), { maxLength: 8000, size: "max" }),
        (steps) => {
          const index = createIdIndex();
          const ids = Array.from({ length: 3001 }, (_, number) => `order-${number}`);
          const { rows, taken } = rowsOf(ids);
          const wanted = new Set<number>();
          for (const [number, isInsert] of steps) {
            const id = ids[number] as string;
            const row = taken[number] as number;
            if (isInsert && !wanted.has(row)) insertRow(index, hashId(id), row);
            if (!isInsert && wanted.has(row)) removeRow(index, hashId(id), row);
            if (isInsert) wanted.add(row);
            else wanted.delete(row);
          }
          expect(index.count).toBe(wanted.size);
          for (const [number, id] of ids.entries()) {
            const row = taken[number] as number;
            expect(findRow(index, rows, id, hashId(id))).toBe(wanted.has(row) ? row : none);
          }
        },
      ),
      { numRuns: 10 },
    ));

  it("keeps ids apart whose ends are the same", () => {
    const ids = ["a-0123456789abcdef", "b-0123456789abcdef", "c-0123456789abcdef"];
    const { rows, taken } = rowsOf(ids);
    const index = createIdIndex();
    for (const [number, id] of ids.entries()) insertRow(index, hashId(id), taken[number] as number);
    removeRow(index, hashId(ids[0] as string), taken[0] as number);
    expect(ids.map((id) => findRow(index, rows, id, hashId(id)))).toEqual([none, taken[1], taken[2]]);
  });
});
