import { describe, expect, it } from "vitest";
import { createFinishedTransactions } from "./finished-transactions.js";
import type { Transaction, TransactionStep } from "./transaction.js";

const asset = {
  code: "USD",
  decimals: 2,
  network: "book",
  caip19: "",
  minimum: 1n,
  maximum: 100n,
} as unknown as Transaction["asset"];

function transactionOf(
  id: string,
  state?: TransactionStep["state"],
  metadata: Transaction["metadata"] = null,
) {
  const steps = state === undefined ? [] : [{ version: 2, state, failure: null, occurredAt: new Date(0) }];
  return {
    tenantId: "one",
    id,
    clientId: "",
    reference: "r",
    asset,
    amount: 1n,
    sourceWalletId: "",
    destinationWalletId: "",
    metadata,
    expiresAt: null,
    createdAt: new Date(0),
    policyVersion: 0,
    steps,
    judgement: null,
  } satisfies Transaction;
}

describe("finished transactions", () => {
  it("are kept, and those that can still change are not", () => {
    const finished = createFinishedTransactions();
    for (const state of ["completed", "failed", "rejected", "cancelled"] as const) {
      const transaction = transactionOf(state, state);
      finished.keep(transaction);
      expect(finished.find("one", state)).toBe(transaction);
    }
    finished.keep(transactionOf("accepted"));
    finished.keep(transactionOf("waiting", "awaiting_approval"));
    expect(finished.find("one", "accepted")).toBeUndefined();
    expect(finished.find("one", "waiting")).toBeUndefined();
  });

  it("are found by their own tenant alone", () => {
    const finished = createFinishedTransactions();
    finished.keep(transactionOf("a", "completed"));
    expect(finished.find("another", "a")).toBeUndefined();
  });

  it("are bounded in what they weigh, and what was kept first makes room", () => {
    const finished = createFinishedTransactions();
    const heavy = { note: "x".repeat(1_000_000) };
    for (let index = 0; index < 9; index++) finished.keep(transactionOf(`${index}`, "completed", heavy));
    const left = Array.from({ length: 9 }, (_, index) => finished.find("one", `${index}`) !== undefined);
    expect(left).toEqual([false, false, true, true, true, true, true, true, true]);
  });
});
