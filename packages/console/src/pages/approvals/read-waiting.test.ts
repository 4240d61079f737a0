import type { Transaction } from "@bursar/client";
import { describe, expect, it } from "vitest";
import { readWaiting } from "./read-waiting";

/** Newest first, as the service lists them; number 1 is the oldest and has the nearest deadline. */
const waiting = (number: number) =>
  ({
    id: `tx_${number}`,
    approval: { expires_at: new Date(Date.UTC(2026, 0, 1, 0, number)).toISOString() },
  }) as Transaction;

async function* pagesOf(...pages: number[][]) {
  for (const [index, numbers] of pages.entries())
    yield { data: numbers.map(waiting), next_cursor: index === pages.length - 1 ? null : "next" };
}

const read = async (max: number, ...pages: number[][]) => {
  const { rows, ...rest } = await readWaiting(pagesOf(...pages), max);
  return { ids: rows.map(({ id }) => id), ...rest };
};

describe("payments that wait for approval", () => {
  it("come with the nearest deadline first, from the last page too", async () => {
    expect(await read(10, [4, 3], [2, 1])).toEqual({
      ids: ["tx_1", "tx_2", "tx_3", "tx_4"],
      isCut: false,
      pages: 2,
    });
  });

  it("say that older ones were not read", async () => {
    expect(await read(2, [4, 3], [2, 1])).toEqual({ ids: ["tx_3", "tx_4"], isCut: true, pages: 1 });
    expect(await read(4, [4, 3], [2, 1])).toMatchObject({ isCut: false });
  });
});
