import { array, assert, boolean, integer, property, tuple } from "fast-check";
import { describe, expect, it } from "vitest";
import { type BookRows, createBookRows, none, takeRow } from "./book-rows.js";
import { createIdIndex, findRow, findYoungRow, insertRow, removeRow } from "./id-index.js";
import { addToTable, createIdTable, findInTable, hashId, moveToTable, removeFromTable } from "./id-table.js";

/** Rows that hold these ids, in this order. */
function rowsOf(ids: readonly string[]): { rows: BookRows; taken: number[] } {
  const rows = createBookRows();
  const taken = ids.map((id) => {
    const row = takeRow(rows);
    rows.texts[row >> 2] = id;
    rows.hash[row] = hashId(id);
    return row;
  });
  return { rows, taken };
}

const manyIds = Array.from({ length: 3001 }, (_, number) => `order-${number}`);

describe("the index of ids", () => {
  it("finds what is there and nothing else, through growth, age and removals", () =>
    assert(
      property(
        array(tuple(integer({ min: 0, max: 3000 }), boolean()), { maxLength: 8000, size: "max" }),
        (steps) => {
          const index = createIdIndex();
          const { rows, taken } = rowsOf(manyIds);
          const wanted = new Set(taken);
          for (const row of taken) insertRow(index, rows, row);
          for (const [number, isInsert] of steps) {
            const row = taken[number] as number;
            if (isInsert && !wanted.has(row)) insertRow(index, rows, row);
            if (!isInsert && wanted.has(row)) removeRow(index, rows, row);
            if (isInsert) wanted.add(row);
            else wanted.delete(row);
          }
          expect(index.count).toBe(wanted.size);
          for (const [number, id] of manyIds.entries()) {
            const row = taken[number] as number;
            expect(findRow(index, rows, id, hashId(id))).toBe(wanted.has(row) ? row : none);
          }
        },
      ),
      { numRuns: 10 },
    ));

  it("knows the last thousand as young, and finds an id that is there twice when the second grows old", () => {
    const { rows, taken } = rowsOf([...manyIds, "order-0", ...manyIds.map((id) => `later-${id}`)]);
    const index = createIdIndex();
    const isYoung = (id: string) => findYoungRow(index, rows, id, hashId(id)) !== none;
    const second = manyIds.length;
    for (const row of taken.slice(0, second + 1)) insertRow(index, rows, row);
    expect(manyIds.slice(-1000).every(isYoung)).toBe(true);
    expect(isYoung("order-1")).toBe(false);
    expect(() => {
      for (const row of taken.slice(second + 1)) insertRow(index, rows, row);
    }).toThrow("order order-0 is in the book already");
  });
});

describe("a table of ids", () => {
  it("keeps ids apart whose ends are the same, and takes none twice", () => {
    const ids = ["a-0123456789abcdef", "b-0123456789abcdef", "c-0123456789abcdef", "c-0123456789abcdef"];
    const { rows, taken } = rowsOf(ids);
    const [a, b, c, again] = taken as [number, number, number, number];
    const hash = hashId(ids[0] as string);
    const table = createIdTable(16);
    for (const row of [a, b, c]) addToTable(table, rows, hash, row);
    expect(() => addToTable(table, rows, hash, again)).toThrow("in the book already");
    expect([removeFromTable(table, hash, a), removeFromTable(table, hash, a)]).toEqual([true, false]);
    expect(ids.map((id) => findInTable(table, rows, id, hash))).toEqual([none, b, c, c]);
  });

  it("gives all that it has to another", () => {
    const { rows, taken } = rowsOf(manyIds);
    const [from, to] = [createIdTable(16), createIdTable(16)];
    for (const [number, row] of taken.entries())
      addToTable(from, rows, hashId(manyIds[number] as string), row);
    moveToTable(to, rows, from);
    expect([from.count, to.count]).toEqual([0, manyIds.length]);
    expect(manyIds.map((id) => findInTable(to, rows, id, hashId(id)))).toEqual(taken);
    expect(manyIds.every((id) => findInTable(from, rows, id, hashId(id)) === none)).toBe(true);
  });
});
