import { describe, expect, it } from "vitest";
import { readIntent, readWallet } from "../src/signing/intent.js";
import { newWallet, payment, toJson, token } from "./intents.js";

const address = `0x${"a1".repeat(20)}`;
const correct = toJson(payment({ ...newWallet(), address }));

describe("an intent", () => {
  it("is read if every field is right", () => {
    expect(readIntent(correct)).toMatchObject({ address, amount: 10n ** 18n, maxFeePerGas: 30n * 10n ** 9n });
  });

  it.each<[string, unknown]>([
    ["tenantId", undefined],
    ["tenantId", "a2b8"],
    ["tenantId", "0190A0B0-0000-7000-8000-000000000001"],
    ["walletId", 7],
    ["transactionId", null],
    ["transactionId", "0190a0b0-0000-7000-8000-00000000000g"],
    ["network", "eip155:0"],
    ["network", "eip155:01"],
    ["network", "eip155:-1"],
    ["network", "eip155:1 "],
    ["network", "EIP155:1"],
    ["network", "eip155:9999999999999999"],
    ["network", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"],
    ["network", "ethereum"],
    ["network", 1],
    ["address", address.toUpperCase()],
    ["address", address.slice(2)],
    ["destination", "0x"],
    ["destination", `${address.slice(0, -1)}G`],
    ["destination", `0x${"d".repeat(41)}`],
    ["contract", ""],
    ["contract", undefined],
    ["contract", "0x0"],
    ["nonce", -1],
    ["nonce", 0.5],
    ["nonce", "0"],
    ["nonce", 2 ** 32],
    ["nonce", Number.NaN],
    ["purpose", "refund"],
    ["purpose", "toString"],
    ["amount", 1],
    ["amount", ""],
    ["amount", "-1"],
    ["amount", "1.5"],
    ["amount", "1e18"],
    ["amount", "0x10"],
    ["amount", "01"],
    ["amount", " 1"],
    ["amount", (2n ** 256n).toString()],
    ["amount", "9".repeat(10_000)],
    ["amount", "0"],
    ["gasLimit", "20999"],
    ["gasLimit", "30000001"],
    ["maxFeePerGas", (2n ** 64n).toString()],
    ["maxPriorityFeePerGas", "30000000001"],
    ["maxPriorityFeePerGas", null],
    ["data", "0x"],
    ["__proto__", {}],
  ])("is refused if %s is %s", (name, value) => {
    const given = JSON.parse(JSON.stringify({ ...correct })) as Record<string, unknown>;
    Object.defineProperty(given, name, { value, enumerable: true });
    expect(readIntent(given)).toEqual(expect.any(String));
  });

  it.each<[string, object]>([
    ["to the zero address", { destination: `0x${"0".repeat(40)}` }],
    ["to its sender", { destination: address }],
    ["to the contract of its token", { contract: token, destination: token }],
  ])("is refused if it pays %s", (_, change) => {
    expect(readIntent({ ...correct, ...change })).toMatch(/^A payment must not go/);
  });

  it.each<[string, object]>([
    ["pays somebody else", { amount: "0" }],
    ["pays something", { destination: address }],
    ["calls a contract", { amount: "0", destination: address, contract: token }],
  ])("is refused if a cancellation %s", (_, change) => {
    expect(readIntent({ ...correct, ...change, purpose: "cancellation" })).toMatch(
      /^A cancellation must send 0/,
    );
  });

  it.each([null, undefined, "intent", 7, [], [correct]])("is refused if it is %s", (given) => {
    expect(readIntent(given)).toBe("An intent must be an object.");
  });
});

describe("a wallet", () => {
  it.each<[string, unknown]>([
    ["tenantId", "a"],
    ["walletId", undefined],
    ["network", "eip155:x"],
    ["path", "m/44'/60'/0'/0/0"],
  ])("is refused if %s is %s", (name, value) => {
    expect(readWallet({ ...newWallet(), [name]: value })).toEqual(expect.any(String));
  });
});
