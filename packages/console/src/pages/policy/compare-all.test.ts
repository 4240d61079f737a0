import type { Transaction } from "@bursar/client";
import { describe, expect, it } from "vitest";
import { compareAll, type Tally } from "./compare-all";
import type { Compared } from "./compare-payments";

const same = { isSame: true } as Compared;
const different = { isSame: false } as Compared;

async function* pagesOf(...pages: number[][]) {
  for (const numbers of pages)
    yield { data: numbers.map((number) => ({ id: `tx_${number}` }) as Transaction) };
}

/** Runs a comparison, and returns what was compared and the last tally. */
async function run({
  max = 10,
  compare = async () => same,
  pauseMs = () => 0,
  ending = new AbortController(),
}: {
  max?: number;
  compare?: (id: string, signal: AbortSignal) => Promise<Compared | undefined>;
  pauseMs?: () => number;
  ending?: AbortController;
}) {
  const begun: string[] = [];
  let last: Tally | undefined;
  const ended = await compareAll({
    pages: () => pagesOf([1, 2, 3], [4, 5, 6]),
    compare: ({ id }, signal) => {
      begun.push(id);
      return compare(id, signal);
    },
    pauseMs,
    max,
    show: (tally) => {
      last = tally;
    },
    signal: ending.signal,
  }).then(
    () => "done",
    (error: unknown) => error,
  );
  return { begun, last, ended };
}

describe("the comparison of the last payments", () => {
  it("counts what is the same, what changes and what cannot be judged, up to a bound", async () => {
    const results: Record<string, Compared | undefined> = { tx_1: same, tx_2: different, tx_4: different };
    const { begun, last, ended } = await run({ max: 5, compare: async (id) => results[id] });
    expect(ended).toBe("done");
    expect(begun).toHaveLength(5);
    expect(last).toMatchObject({ read: 5, skipped: 2 });
    expect(last?.changed.map(({ transaction: { id } }) => id)).toEqual(["tx_2", "tx_4"]);
  });

  it("has two under way at most", async () => {
    let underway = 0;
    let most = 0;
    await run({
      compare: async () => {
        underway += 1;
        most = Math.max(most, underway);
        await new Promise((resolve) => setTimeout(resolve, 1));
        underway -= 1;
        return same;
      },
    });
    expect(most).toBe(2);
  });

  it("ends with the first error, which aborts what else is under way", async () => {
    const broken = new Error("refused");
    let other: AbortSignal | undefined;
    const { begun, ended } = await run({
      compare: (id, signal) => {
        if (id === "tx_2") return Promise.reject(broken);
        other = signal;
        return new Promise((resolve) => signal.addEventListener("abort", () => resolve(same)));
      },
    });
    expect(ended).toBe(broken);
    expect(other?.aborted).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(begun).toEqual(["tx_1", "tx_2"]);
  });

  it("begins nothing more after it was stopped, even while it waits for quota", async () => {
    const ending = new AbortController();
    setTimeout(() => ending.abort(), 5);
    const { begun, last } = await run({ ending, pauseMs: () => 60_000 });
    expect(begun).toEqual([]);
    expect(last).toBeUndefined();
  });
});
