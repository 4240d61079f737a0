import type { Trade } from "@bursar/client";
import { describe, expect, it } from "vitest";
import { candlesOf } from "./candles";
import { judgeBook } from "./judge-book";

const levels = { bids: [["99", "1"]] as [string, string][], asks: [["101", "2"]] as [string, string][] };
const snapshot = { ...levels, sequence: 5, stale: false };

describe("a copy of a book", () => {
  it.each([
    ["the same", { ...levels, sequence: 5 }, snapshot, 5, undefined],
    ["newer", { bids: [], asks: [], sequence: 6 }, snapshot, 5, undefined],
    ["a moment behind", { bids: [], asks: [], sequence: 4 }, snapshot, 4, undefined],
    ["behind for two checks", { ...levels, sequence: 4 }, snapshot, 5, /do not arrive/],
    ["missing", undefined, snapshot, 0, /do not arrive/],
    [
      "different",
      { ...levels, bids: [["98", "1"]] as [string, string][], sequence: 5 },
      snapshot,
      5,
      /is not the one/,
    ],
    ["of a lost market", { ...levels, sequence: 5 }, { ...snapshot, stale: true }, 5, /could not confirm/],
  ] as const)("that is %s is judged", (_name, copy, given, mustReach, reason) => {
    const judged = judgeBook(copy as never, given as never, mustReach);
    expect(judged.mustReach).toBe(5);
    if (reason === undefined) expect(judged.staleReason).toBeUndefined();
    else expect(judged.staleReason).toMatch(reason);
  });
});

describe("candles", () => {
  it("have the first, last, highest and lowest price of their period", () => {
    const trade = (sequence: number, occurred_at: string, price: string) =>
      ({ sequence, occurred_at, price }) as Trade;
    const trades = [
      trade(4, "2026-01-01T00:02:00Z", "7"),
      trade(3, "2026-01-01T00:00:59Z", "11"),
      trade(2, "2026-01-01T00:00:30Z", "9"),
      trade(1, "2026-01-01T00:00:00Z", "10"),
    ];
    const first = { open: 10, high: 11, low: 9, close: 11, startMs: Date.parse("2026-01-01T00:00:00Z") };
    expect(candlesOf(trades, 60_000)).toEqual([
      first,
      { open: 7, high: 7, low: 7, close: 7, startMs: Date.parse("2026-01-01T00:02:00Z") },
    ]);
  });
});
