import { expect, it } from "vitest";
import { bodyOf, emptyPayment } from "./payment-fields";

const names = new Map([
  ["wlt_1", "primary"],
  ["wlt_2", "Card settlement"],
  ["wlt_3", "twice"],
  ["wlt_4", "twice"],
]);

it("a wallet is named by its id, or by a name that no other wallet has", () => {
  const pay = (source: string, destination: string) => {
    const { source: from, destination: to } = bodyOf({ ...emptyPayment(), source, destination }, names);
    return [from, to];
  };
  expect(pay("primary", " Card settlement ")).toEqual([{ wallet_id: "wlt_1" }, { wallet_id: "wlt_2" }]);
  expect(pay("wlt_9", "wlt_2")).toEqual([{ wallet_id: "wlt_9" }, { wallet_id: "wlt_2" }]);
  expect(pay("", "")).toEqual([undefined, undefined]);
  // Which of two wallets is meant is not guessed, so the service refuses the name.
  expect(pay("twice", "twice")).toEqual([{ wallet_id: "twice" }, { address: "twice" }]);
});
