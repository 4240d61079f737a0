import { expect, it } from "vitest";
import { bodyOf, dependsOnNames, emptyPayment, isAlike, isAmount, isMore } from "./payment-fields";

const names = new Map([
  ["wlt_1", "primary"],
  ["wlt_2", "Card settlement"],
  ["wlt_3", "twice"],
  ["wlt_4", "twice"],
]);

it("a wallet is named by its id, or by a name that no other wallet has", () => {
  const pay = (source: string, destination: string) => {
    const { source: from, destination: to } = bodyOf({ ...emptyPayment(), source, destination }, "book", {
      wallets: names,
      listed: [],
    });
    return [from, to];
  };
  expect(pay("primary", " Card settlement ")).toEqual([{ wallet_id: "wlt_1" }, { wallet_id: "wlt_2" }]);
  expect(pay("wlt_9", "wlt_2")).toEqual([{ wallet_id: "wlt_9" }, { wallet_id: "wlt_2" }]);
  expect(pay("", "")).toEqual([undefined, undefined]);
  // Which of two wallets is meant is not guessed, so the service refuses the name.
  expect(pay("twice", "twice")).toEqual([{ wallet_id: "twice" }, { address: "twice" }]);
});

it("an address is never the name of a wallet", () => {
  const address = "0x52908400098527886E0F7030069857D2E4169EE7";
  const others = ["bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq", "0xshort"];
  for (const typed of [address, ` ${address} `, address.toLowerCase(), ...others]) {
    const known = { wallets: new Map([["wlt_5", typed.trim()]]), listed: [] };
    expect(bodyOf({ ...emptyPayment(), destination: typed }, "eip155:1", known).destination).toEqual({
      address: typed.trim(),
    });
  }
});

it("a payment depends on names if one was typed", () => {
  const depends = (source: string, destination: string) =>
    dependsOnNames({ ...emptyPayment(), source, destination });
  expect([depends("primary", ""), depends("", " Card settlement ")]).toEqual([true, true]);
  expect([depends("", ""), depends("wlt_1", "wlt_2"), depends("", "0x12")]).toEqual([false, false, false]);
});

it("a payment is like another with its reference, or with its amount however that is written", () => {
  const like = (reference: string, asset: string, amount: string) =>
    isAlike({ reference: "rent", asset: "USD", amount: "77.10" }, { reference, asset, amount });
  expect([like("rent", "EUR", "5"), like("other", "USD", "77.1")]).toEqual([true, true]);
  expect([like("other", "EUR", "77.10"), like("other", "USD", "771")]).toEqual([false, false]);
  const of = (amount: string) => ({ reference: amount, asset: "USD", amount });
  expect([isAlike(of("100"), of("100.00")), isAlike(of("100"), of("1"))]).toEqual([true, false]);
});

it("an amount is a plain decimal number, and is compared exactly", () => {
  for (const text of ["1", "0.5", "007", "123456789012345678901234567890.1"])
    expect(isAmount(text)).toBe(true);
  for (const text of ["1e3", "NaN", "-1", "1,5", ".5", "1.", "0x1", ""]) expect(isAmount(text)).toBe(false);
  expect(isMore("100.01", "100")).toBe(true);
  expect(isMore("100.00", "100")).toBe(false);
  expect(isMore("0099", "100.5")).toBe(false);
  expect(isMore("10000000000000000000000000.2", "10000000000000000000000000.1")).toBe(true);
  expect(isMore("NaN", "1")).toBe(false);
});
