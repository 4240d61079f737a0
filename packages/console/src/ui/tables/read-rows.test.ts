import { expect, it } from "vitest";
import { readRows } from "./read-rows";

async function* pagesOf(...pages: number[][]) {
  for (const [index, data] of pages.entries())
    yield { data, next_cursor: index === pages.length - 1 ? null : "next" };
}

it.each([
  [5, [5, 4, 3, 2, 1], false],
  [6, [5, 4, 3, 2, 1], false],
  [4, [5, 4, 3, 2], true],
  [3, [5, 4, 3], true],
])("of five rows, a file of at most %i says whether some are missing", async (max, rows, isCut) => {
  const counts: number[] = [];
  const found = await readRows(pagesOf([5, 4, 3], [2, 1]), max, (count) => counts.push(count));
  expect(found).toEqual({ rows, isCut });
  expect(counts.every((count) => count <= max)).toBe(true);
});
