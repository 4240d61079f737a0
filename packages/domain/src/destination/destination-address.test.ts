import { describe, expect, it } from "vitest";
import { canonicalAddress, isChainId } from "./destination-address.js";

describe("the network of a destination", () => {
  it.each([
    "eip155:1",
    "eip155:11155111",
    "bip122:000000000019d6689c085ae165831e93",
    "solana:5eykt4UsFv8P8NJd",
  ])("can be %s", (network) => {
    expect(isChainId(network)).toBe(true);
  });

  it.each([
    "",
    "book",
    "eip155",
    "eip155:",
    "eip155:0",
    "eip155:01",
    "eip155:0x1",
    "EIP155:1",
    "eip155:1 ",
    "a:1",
  ])("cannot be %j", (network) => {
    expect(isChainId(network)).toBe(false);
  });
});

describe("an address", () => {
  const mixed = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";

  it("has one canonical form on an EVM network, regardless of case", () => {
    const forms = [mixed, mixed.toLowerCase(), `0x${mixed.slice(2).toUpperCase()}`];
    expect(new Set(forms.map((form) => canonicalAddress("eip155:1", form)))).toEqual(
      new Set([mixed.toLowerCase()]),
    );
  });

  it("keeps its case elsewhere", () => {
    expect(canonicalAddress("bip122:000000000019d6689c085ae165831e93", mixed)).toBe(mixed);
  });

  it.each([
    ["eip155:1", mixed.slice(0, -1)],
    ["eip155:1", `${mixed}0`],
    ["eip155:1", mixed.slice(2)],
    ["eip155:1", `0X${mixed.slice(2)}`],
    ["eip155:1", `${mixed}\n`],
    ["eip155:1", `0x${"g".repeat(40)}`],
    ["cosmos:cosmoshub-4", ""],
    ["cosmos:cosmoshub-4", "two words"],
    ["cosmos:cosmoshub-4", "ünseen"],
    ["cosmos:cosmoshub-4", "x".repeat(129)],
  ])("on %s cannot be %j", (network, text) => {
    expect(canonicalAddress(network, text)).toBeUndefined();
  });
});
