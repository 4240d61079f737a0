import { expect, it } from "vitest";
import type { ObservedTransfer } from "../../../app/chain/chain-node.js";
import { isPaidExactly } from "./paid-exactly.js";

const payment = { asset: "USDC", contract: "0xc0", from: "0xaa", to: "0xbb", amount: 100n };
const log: ObservedTransfer = {
  hash: "0x1",
  ordinal: 1,
  asset: "USDC",
  from: "0xaa",
  to: "0xbb",
  amount: 100n,
};
const isPaid = (transfers: readonly ObservedTransfer[], success = true) =>
  isPaidExactly({ hash: "0x1", success, fee: 1n, transfers }, payment);

it("a token is paid if its logs show exactly this transfer by the sender", () => {
  expect(isPaid([log])).toBe(true);
  const others: ObservedTransfer[] = [
    { ...log, ordinal: 2, asset: "OTHER", amount: 1n },
    { ...log, ordinal: 3, from: "0xcc", amount: 1n },
  ];
  expect(isPaid([log, ...others])).toBe(true);
});

it.each<[string, readonly ObservedTransfer[], boolean?]>([
  ["there is no log, as of a token that returns false", []],
  ["the transaction failed", [log], false],
  ["less has moved", [{ ...log, amount: 99n }]],
  ["more has moved", [{ ...log, amount: 101n }]],
  ["it went elsewhere", [{ ...log, to: "0xcc" }]],
  ["somebody else has paid", [{ ...log, from: "0xcc" }]],
  ["another token has moved", [{ ...log, asset: "OTHER" }]],
  ["it has moved twice", [log, { ...log, ordinal: 2 }]],
  ["a part went elsewhere too", [log, { ...log, ordinal: 2, to: "0xcc", amount: 1n }]],
  ["only the coin shows the same", [{ ...log, ordinal: 0 }]],
])("a token is not paid if %s", (_, transfers, success = true) => {
  expect(isPaid(transfers, success)).toBe(false);
});

it("the coin is paid if the transaction succeeded", () => {
  const coin = { ...payment, contract: null };
  expect(isPaidExactly({ hash: "0x1", success: true, fee: 1n, transfers: [] }, coin)).toBe(true);
  expect(isPaidExactly({ hash: "0x1", success: false, fee: 1n, transfers: [] }, coin)).toBe(false);
});
