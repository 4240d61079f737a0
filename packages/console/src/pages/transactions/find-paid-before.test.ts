import type { CreateTransactionBody, Transaction } from "@bursar/client";
import { expect, it } from "vitest";
import { findPaidBefore } from "./find-paid-before";

const address = "0x52908400098527886E0F7030069857D2E4169EE7";
const paid = (part: Partial<Transaction>) =>
  ({
    reference: "rent",
    kind: "transfer",
    state: "completed",
    asset: "USD",
    amount: "250.25",
    destination: { wallet_id: "wlt_1" },
    ...part,
  }) as Transaction;
const find = (
  one: Transaction,
  amount: string,
  destination?: CreateTransactionBody["destination"],
  payeeId?: string,
) => {
  const payment = { reference: "rent", asset: "USD", amount, ...(destination && { destination }) };
  const { same, other } = findPaidBefore([one], payment, payeeId);
  return [same.length, other.length];
};

it("a payment was made before if it has the reference and the amount, to any payee", () => {
  expect(find(paid({}), "250.250", undefined, "wlt_2")).toEqual([1, 0]);
  expect(find(paid({ asset: "EUR" }), "250.25", undefined, "wlt_2")).toEqual([0, 0]);
  for (const state of ["rejected", "failed", "cancelled"] as const)
    expect([state, find(paid({ state }), "250.25", undefined, "wlt_1")]).toEqual([state, [0, 0]]);
  expect(find(paid({ kind: "deposit" }), "250.25", undefined, "wlt_1")).toEqual([0, 0]);
});

it("a payment with the reference and another amount is found if it pays the same payee", () => {
  expect(find(paid({}), "250.26", undefined, "wlt_1")).toEqual([0, 1]);
  expect(find(paid({}), "250.26", undefined, "wlt_2")).toEqual([0, 0]);
  // Also if it was typed as an id, and no wallet is known here.
  expect(find(paid({}), "250.26", { wallet_id: "wlt_1" })).toEqual([0, 1]);
  const payout = paid({ kind: "payout", destination: { address, network: "eip155:1" } as never });
  expect(find(payout, "1", { address: address.toLowerCase() })).toEqual([0, 1]);
  expect(find(payout, "1", { address: `${address.slice(0, -1)}8` })).toEqual([0, 0]);
  expect(find(payout, "1")).toEqual([0, 0]);
});
