import type { WalletEntry } from "@bursar/client";
import { expect, it } from "vitest";
import { readEntries } from "./read-entries";

async function* pagesOf(...pages: number[][]) {
  for (const [index, sequences] of pages.entries())
    yield {
      data: sequences.map((sequence) => ({ sequence }) as WalletEntry),
      next_cursor: index === pages.length - 1 ? null : "next",
    };
}

it.each([
  [5, [5, 4, 3, 2, 1], false],
  [6, [5, 4, 3, 2, 1], false],
  [4, [5, 4, 3, 2], true],
  [3, [5, 4, 3], true],
])("of five entries, a file of at most %i says whether some are missing", async (max, sequences, isCut) => {
  const counts: number[] = [];
  const found = await readEntries(pagesOf([5, 4, 3], [2, 1]), max, (count) => counts.push(count));
  expect(found.rows.map(({ sequence }) => sequence)).toEqual(sequences);
  expect(found.isCut).toBe(isCut);
  expect(counts.every((count) => count <= max)).toBe(true);
});
