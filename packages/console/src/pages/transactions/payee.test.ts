import { expect, it } from "vitest";
import type { ListedAddress } from "../../api/listed-addresses";
import { addressChoices, nameFaultOf, payeeHint, payeeOf } from "./payee";

const network = "eip155:1";
const wallets = new Map([
  ["wlt_1", "primary"],
  ["wlt_2", "Card settlement"],
  ["wlt_3", "twice"],
  ["wlt_4", "twice"],
  ["wlt_5", "Both"],
]);
const address = "0x52908400098527886e0f7030069857d2e4169ee7";
const entry = (label: string, more: Partial<ListedAddress> = {}): ListedAddress => ({
  label,
  network,
  address,
  state: "active",
  ...more,
});
const listed = [
  entry("Supplier Müller"),
  entry("Supplier Müller", { network: "eip155:137", address: "0x1" }),
  entry("Both", { network: "eip155:137" }),
  entry("Elsewhere", { network: "eip155:137" }),
  entry("New", { state: "waiting" }),
  entry("Two"),
  entry("Two", { address: "0x2" }),
  entry(address),
  entry("wlt_1"),
];
const pay = (typed: string) => payeeOf(typed, network, { wallets, listed });

it("a payee is a wallet by id or name, an address, or the label of a listed one on the asset's network", () => {
  expect(pay(" Card settlement ")).toEqual({ wallet_id: "wlt_2" });
  expect(pay("wlt_9")).toEqual({ wallet_id: "wlt_9" });
  expect(pay(" Supplier Müller ")).toEqual({ address });
  expect(payeeOf("Supplier Müller", "eip155:137", { wallets, listed })).toEqual({ address: "0x1" });
  expect(pay("  ")).toBeUndefined();
  // An id or an address is itself, whatever was labelled like it.
  expect(pay("wlt_1")).toEqual({ wallet_id: "wlt_1" });
  expect(pay(address.toUpperCase())).toEqual({ address: address.toUpperCase() });
});

it("a name that could mean two things, or nothing, pays nothing", () => {
  const faultOf = (typed: string) => (pay(typed) as { fault?: string }).fault;
  // Also if the label is on another network.
  expect(faultOf("Both")).toContain("A wallet and a listed address have this name");
  expect(faultOf("twice")).toContain("2 wallets have this name");
  expect(faultOf("Two")).toContain("2 listed addresses have this label");
  expect(faultOf("Elsewhere")).toContain("is on eip155:137");
  expect(faultOf("New")).toContain("not active yet");
  for (const typed of ["supplier müller", "Supplier Mu\u0308ller", "Primary", "Supplier"])
    expect([typed, faultOf(typed)]).toEqual([typed, expect.stringContaining("No wallet or listed address")]);
});

it("a name pays nothing while another wallet or address can have it that is not known here", () => {
  const faultOf = (known: Parameters<typeof payeeOf>[2], typed: string) =>
    (payeeOf(typed, network, known) as { fault?: string }).fault;
  expect(faultOf({ wallets: undefined, listed }, "Supplier Müller")).toContain("Not all names are known");
  expect(faultOf({ wallets, listed: undefined }, "primary")).toContain("Not all names are known");
  for (const typed of ["wlt_1", address])
    expect(faultOf({ wallets: undefined, listed: undefined }, typed)).toBeUndefined();
  // A role that does not read one list has only the other one to name.
  const none = new Map<string, string>();
  expect(payeeOf("Supplier Müller", network, { wallets: none, listed })).toEqual({ address });
  expect(payeeOf("primary", network, { wallets, listed: [] })).toEqual({ wallet_id: "wlt_1" });
  expect(faultOf({ wallets, listed: [] }, "x")).toContain("No wallet has this name");
  expect(faultOf({ wallets: none, listed }, "primary")).toBe(
    "No listed address has this label. Your role names wallets by their id, such as wlt_…",
  );
});

it("an asset that is on no chain is not paid to an address", () => {
  expect(payeeOf(address, "book", { wallets, listed })).toEqual({
    fault: expect.stringContaining("on no chain"),
  });
  expect(payeeOf("primary", "book", { wallets, listed })).toEqual({ wallet_id: "wlt_1" });
});

it("only what a role can type is promised", () => {
  expect(payeeHint(true, true)).toContain(
    "The name or id of a wallet, an address on the asset's network, or the label",
  );
  expect(payeeHint(false, false)).toBe(
    "The id of a wallet, or an address on the asset's network. Defaults to the settlement wallet",
  );
});

it("a listed address is chosen as itself, by a label in which nothing is hidden", () => {
  const hostile = [entry("Sup\u202eplier", { address: "0x3" }), ...listed.slice(3, 5)];
  expect(addressChoices(hostile, network)).toEqual([
    { address: "0x3", text: "SupU+202Eplier" },
    { address, text: "New (not active yet)" },
  ]);
  expect(addressChoices(undefined, network)).toEqual([]);
});

it("the name of what pays is a fault if no wallet has it, or several have", () => {
  expect(nameFaultOf("Primary", wallets)).toContain("No wallet has this name");
  expect(nameFaultOf(" twice ", wallets)).toContain("2 wallets have this name");
  for (const typed of ["", "primary", "wlt_9", address])
    expect([typed, nameFaultOf(typed, wallets)]).toEqual([typed, undefined]);
  expect(nameFaultOf("x", undefined)).toContain("Not all wallets are known");
  expect(nameFaultOf("wlt_9", undefined)).toBeUndefined();
  expect(nameFaultOf("x", new Map())).toBe("Your role names wallets by their id, such as wlt_…");
});
