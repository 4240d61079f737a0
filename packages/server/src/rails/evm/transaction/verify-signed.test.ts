import fc from "fast-check";
import { parseTransaction, serializeTransaction } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { transferCall } from "./transfer-call.js";
import { type SignedIntent, verifySigned, WrongSignatureError } from "./verify-signed.js";

const account = privateKeyToAccount(`0x${"4c0883a6".repeat(8)}`);
const stranger = privateKeyToAccount(`0x${"59c6995e".repeat(8)}`);
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

const intent: SignedIntent = {
  network: "eip155:31337",
  address: account.address.toLowerCase(),
  nonce: 7,
  contract: null,
  destination: "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed",
  amount: 10n ** 18n,
  gasLimit: 21_000n,
  maxFeePerGas: 30_000_000_000n,
  maxPriorityFeePerGas: 1_000_000_000n,
};
const token = "0x8464135c8f25da09e49bc8782676a84730c318bc";

/** Signs an intent with viem, which shares no code with what verifies it. */
function sign(given: SignedIntent, by = account) {
  const { contract, destination, amount } = given;
  return by.signTransaction({
    type: "eip1559",
    chainId: Number(given.network.slice(7)),
    nonce: given.nonce,
    to: (contract ?? destination) as `0x${string}`,
    value: contract === null ? amount : 0n,
    data: contract === null ? "0x" : (transferCall(destination, amount) as `0x${string}`),
    gas: given.gasLimit,
    maxFeePerGas: given.maxFeePerGas,
    maxPriorityFeePerGas: given.maxPriorityFeePerGas,
  });
}

describe("signed bytes", () => {
  it("are accepted if they are exactly what was to be signed, and give their hash", async () => {
    const numbers = fc.record({
      nonce: fc.integer({ min: 0, max: 2 ** 31 }),
      amount: fc.bigInt(0n, 2n ** 128n),
      gasLimit: fc.bigInt(21_000n, 2n ** 24n),
      maxPriorityFeePerGas: fc.bigInt(0n, 2n ** 30n),
      maxFeePerGas: fc.bigInt(2n ** 30n, 2n ** 64n),
      contract: fc.constantFrom(null, token),
      network: fc.constantFrom("eip155:1", "eip155:127", "eip155:128", "eip155:31337", "eip155:11155111"),
    });
    const { keccak256 } = await import("viem");
    await fc.assert(
      fc.asyncProperty(numbers, async (fields) => {
        const given = { ...intent, ...fields };
        const bytes = await sign(given);
        expect(verifySigned(given, bytes)).toBe(keccak256(bytes));
      }),
      { numRuns: 100 },
    );
  });

  it.each([
    ["another nonce", { nonce: 8 }],
    ["another chain", { network: "eip155:1" }],
    ["another destination", { destination: "0xdbf03b407c01e7cd3cbea99509d93f8dddc8c6fb" }],
    ["another amount", { amount: 10n ** 18n + 1n }],
    ["a token instead of the coin", { contract: token }],
    ["more gas", { gasLimit: 21_001n }],
    ["a higher fee", { maxFeePerGas: 30_000_000_001n }],
    ["a higher tip", { maxPriorityFeePerGas: 1_000_000_001n }],
  ] as const)("are refused if they have %s", async (_, change) => {
    const bytes = await sign({ ...intent, ...change });
    expect(() => verifySigned(intent, bytes)).toThrow(WrongSignatureError);
    expect(verifySigned({ ...intent, ...change }, bytes)).toMatch(/^0x[0-9a-f]{64}$/);
  });

  it("are refused if somebody else has signed them", async () => {
    const bytes = await sign(intent, stranger);
    expect(() => verifySigned(intent, bytes)).toThrow(stranger.address.toLowerCase());
  });

  it("are refused with the higher of the two values of s, which nodes do not accept", async () => {
    const { r, s, yParity, ...transaction } = parseTransaction(await sign(intent)) as never as {
      r: `0x${string}`;
      s: `0x${string}`;
      yParity: number;
    };
    const high = `0x${(order - BigInt(s)).toString(16).padStart(64, "0")}` as const;
    const bytes = serializeTransaction(transaction as never, { r, s: high, yParity: 1 - yParity });
    expect(() => verifySigned(intent, bytes)).toThrow("not a signed transaction");
  });

  it("are refused if they are cut, extended or changed anywhere", async () => {
    const bytes = await sign(intent);
    const faulty = [
      "",
      "0x",
      "0x02",
      "0x02c0",
      bytes.slice(0, -2),
      `${bytes}00`,
      bytes.toUpperCase(),
      "0xzz",
    ];
    for (let at = 2; at < bytes.length; at += 2) {
      const byte = Number.parseInt(bytes.slice(at, at + 2), 16) ^ 1;
      faulty.push(`${bytes.slice(0, at)}${byte.toString(16).padStart(2, "0")}${bytes.slice(at + 2)}`);
      faulty.push(bytes.slice(0, at));
    }
    for (const given of faulty) expect(() => verifySigned(intent, given), given).toThrow(WrongSignatureError);
  });

  it("of a cancellation pay nothing to the sender", async () => {
    const cancellation = { ...intent, destination: intent.address, amount: 0n };
    const bytes = await sign(cancellation);
    expect(parseTransaction(bytes)).toMatchObject({ to: intent.address, chainId: 31_337 });
    expect(verifySigned(cancellation, bytes)).toMatch(/^0x/);
    expect(() => verifySigned(intent, bytes)).toThrow(WrongSignatureError);
  });
});
