import type { AuditEntry } from "@bursar/client";
import { expect, it } from "vitest";
import { readEntries } from "./read-entries";

/** A log of 30,000 entries, newest first. */
async function* pages() {
  for (let newest = 30_000; newest > 0; newest -= 200) {
    const data = Array.from({ length: 200 }, (_, index) => ({ number: newest - index }) as AuditEntry);
    yield { data, next_cursor: newest === 200 ? null : "next", removed_to: null };
  }
}

const oldest = async (seen: number | undefined, entriesMax: number) => {
  const { entries, isAll } = await readEntries(pages(), seen, entriesMax);
  return [entries.at(-1)?.number, isAll];
};

it("reads down to the entry that was seen before, within a bound", async () => {
  expect(await oldest(undefined, 10_000)).toEqual([28_001, false]);
  expect(await oldest(29_950, 10_000)).toEqual([28_001, false]);
  expect(await oldest(25_000, 10_000)).toEqual([24_801, false]);
  expect(await oldest(15_000, 10_000)).toEqual([20_001, false]);
  expect(await oldest(15_000, 20_000)).toEqual([14_801, false]);
  expect(await oldest(1, 40_000)).toEqual([1, true]);
});
