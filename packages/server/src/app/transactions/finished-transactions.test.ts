import type { Transaction } from "@bursar/protocol";
import { describe, expect, it } from "vitest";
import { createFinishedTransactions } from "./finished-transactions.js";

function transaction(state: Transaction["state"] = "completed", note = ""): Transaction {
  return { state, reference: "r", metadata: { note }, history: [] } as unknown as Transaction;
}

describe("finished transactions", () => {
  it.each(["completed", "failed", "rejected", "cancelled"] as const)("keeps one that is %s", (state) => {
    const finished = createFinishedTransactions();
    finished.keep("one", "tx", transaction(state));
    expect(finished.find("one", "tx")?.state).toBe(state);
  });

  it.each(["accepted", "awaiting_approval"] as const)("does not keep one that is %s", (state) => {
    const finished = createFinishedTransactions();
    finished.keep("one", "tx", transaction(state));
    expect(finished.find("one", "tx")).toBeUndefined();
  });

  it("finds a transaction for its own tenant only", () => {
    const finished = createFinishedTransactions();
    finished.keep("one", "tx", transaction());
    expect(finished.find("another", "tx")).toBeUndefined();
  });

  it("drops the least recently used when the client's strings fill it", () => {
    const finished = createFinishedTransactions();
    const note = "x".repeat(1_000_000);
    for (let number = 0; number < 7; number++)
      finished.keep("one", `tx-${number}`, transaction("failed", note));
    finished.find("one", "tx-0");
    finished.keep("one", "tx-7", transaction("failed", note));
    const kept = Array.from({ length: 8 }, (_, number) => finished.find("one", `tx-${number}`) !== undefined);
    expect(kept).toEqual([true, false, true, true, true, true, true, true]);
  });
});
