import type { Transaction } from "@bursar/protocol";
import { describe, expect, it } from "vitest";
import { createFinishedTransactions } from "./finished-transactions.js";

const idOf = (number: number) => `00000000-0000-7000-8000-${number.toString(16).padStart(12, "0")}`;

function finishedWith(...read: { number: number; state?: Transaction["state"]; note?: string }[]) {
  const finished = createFinishedTransactions();
  for (const { number, state = "completed", note = "" } of read) {
    const transaction = { state, reference: "r", metadata: { note }, history: [] } as unknown as Transaction;
    finished.noteRead("one", idOf(number), transaction);
  }
  return { isKept: (number: number, tenant = "one") => finished.find(tenant, idOf(number)) !== undefined };
}
const twice = <T>(one: T): T[] => [one, one];

describe("finished transactions", () => {
  it("are kept when they are read for the second time", () => {
    const { isKept } = finishedWith(...twice({ number: 1 }), { number: 2 });
    expect([isKept(1), isKept(2)]).toEqual([true, false]);
  });

  it.each(["completed", "failed", "rejected", "cancelled"] as const)("are those that are %s", (state) => {
    expect(finishedWith(...twice({ number: 1, state })).isKept(1)).toBe(true);
  });

  it.each(["accepted", "awaiting_approval"] as const)("are not those that are %s", (state) => {
    expect(finishedWith(...twice({ number: 1, state })).isKept(1)).toBe(false);
  });

  it("are found by their own tenant alone", () => {
    expect(finishedWith(...twice({ number: 1 })).isKept(1, "another")).toBe(false);
  });

  it("are bounded in what they weigh, and what was kept first makes room", () => {
    const note = "x".repeat(1_000_000);
    const { isKept } = finishedWith(
      ...Array.from({ length: 9 }, (_, number) => twice({ number, note })).flat(),
    );
    const kept = Array.from({ length: 9 }, (_, number) => isKept(number));
    expect(kept).toEqual([false, false, true, true, true, true, true, true, true]);
  });

  it("forget which were read once, before all look alike", () => {
    const others = Array.from({ length: 65_536 }, (_, index) => ({ number: index + 10 }));
    expect(finishedWith({ number: 1 }, ...others, { number: 1 }).isKept(1)).toBe(false);
    expect(finishedWith({ number: 1 }, ...others.slice(2), { number: 1 }).isKept(1)).toBe(true);
  });
});
