import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMemorySigner } from "../src/memory-signer.js";
import type { SigningIntent } from "../src/signing/intent.js";
import type { SignedBytes } from "../src/signing/signing-core.js";
import { decode } from "./decode.js";
import { cancellation, destination, gwei, newWallet, payment, raised, token } from "./intents.js";

async function senderWithSigner(over: Parameters<typeof newWallet>[0] = {}) {
  const signer = createMemorySigner();
  const wallet = newWallet(over);
  const [address = ""] = await signer.addressesOf([wallet]);
  const sign = async (intent: SigningIntent) => (await signer.sign([intent]))[0];
  const signed = async (intent: SigningIntent) => {
    const answer = await sign(intent);
    if (answer === undefined || !("bytes" in answer)) throw new Error(JSON.stringify(answer));
    return answer;
  };
  return { signer, sender: { ...wallet, address }, sign, signed };
}

describe("what is signed", () => {
  it("is read by another implementation exactly as the intent says", async () => {
    const { sender, signer } = await senderWithSigner({ network: "eip155:1" });
    let nonce = 0;
    const amount = fc.oneof(fc.bigInt({ min: 1n, max: 2n ** 256n - 1n }), fc.bigInt({ min: 1n, max: 300n }));
    const terms = fc.record({
      amount,
      contract: fc.constantFrom(null, token),
      gasLimit: fc.bigInt({ min: 25_000n, max: 100_000n }),
      maxFeePerGas: fc.bigInt({ min: 0n, max: 1000n * gwei }),
      tipPercent: fc.bigInt({ min: 0n, max: 100n }),
    });
    await fc.assert(
      fc.asyncProperty(terms, async ({ tipPercent, ...given }) => {
        nonce += 1;
        const maxPriorityFeePerGas = (given.maxFeePerGas * tipPercent) / 100n;
        const intent = payment(sender, { ...given, nonce, maxPriorityFeePerGas });
        const [answer] = (await signer.sign([intent])) as [SignedBytes];
        const word = (hex: string) => hex.padStart(64, "0");
        expect(decode(answer.bytes, 1)).toEqual({
          chainId: 1n,
          nonce: BigInt(nonce),
          maxFeePerGas: intent.maxFeePerGas,
          maxPriorityFeePerGas,
          gasLimit: intent.gasLimit,
          to: intent.contract ?? destination,
          value: intent.contract === null ? intent.amount : 0n,
          data:
            intent.contract === null
              ? "0x"
              : `0xa9059cbb${word(destination.slice(2))}${word(intent.amount.toString(16))}`,
          accessList: [],
          sender: sender.address,
          hash: answer.hash,
          isValid: true,
        });
      }),
      { numRuns: 60 },
    );
  });

  it("is the same for the same intent, also after it was replaced and cancelled", async () => {
    const { sender, signed } = await senderWithSigner();
    const intent = payment(sender);
    const first = await signed(intent);
    const second = await signed(raised(intent, 10n));
    const third = await signed(cancellation(intent, 25n));
    expect(new Set([first.hash, second.hash, third.hash]).size).toBe(3);
    expect(await signed(intent)).toEqual(first);
    expect(await signed(raised(intent, 10n))).toEqual(second);
    expect(await signed(cancellation(intent, 25n))).toEqual(third);
  });

  it("is an empty transaction of the sender to itself for a cancellation", async () => {
    const { sender, signed } = await senderWithSigner();
    const intent = payment(sender, { contract: token, gasLimit: 65_000n, nonce: 7 });
    await signed(intent);
    const { bytes } = await signed(cancellation(intent, 10n));
    expect(decode(bytes, 31_337)).toMatchObject({ nonce: 7n, to: sender.address, value: 0n, data: "0x" });
  });

  it("can be a cancellation of a nonce that was never used", async () => {
    const { sender, signed, sign } = await senderWithSigner();
    const intent = payment(sender);
    await signed(cancellation(intent, 0n));
    expect(await sign(raised(intent, 50n))).toMatchObject({ refused: "CANCELLED" });
  });
});

describe("addresses", () => {
  it("belong to one wallet of one tenant and one network", async () => {
    const signer = createMemorySigner();
    const wallets = [newWallet(), newWallet(), newWallet({ network: "eip155:1" })];
    const tenantId = wallets[0]?.tenantId ?? "";
    wallets.push(newWallet({ tenantId }), newWallet({ tenantId, network: "eip155:10" }));
    const addresses = await signer.addressesOf(wallets);
    expect(new Set(addresses).size).toBe(5);
    expect(await signer.addressesOf([...wallets].reverse())).toEqual([...addresses].reverse());
    const [first] = wallets as [ReturnType<typeof newWallet>];
    await expect(signer.addressesOf([{ ...first, network: "eip155:1" }])).rejects.toThrow(
      "belongs to eip155:31337, not to eip155:1",
    );
    await expect(signer.addressesOf([newWallet({ walletId: first.walletId })])).rejects.toThrow(
      "has no wallet",
    );
  });
});

describe("a service that is mistaken or hostile", () => {
  it("cannot have another payment signed for a transaction", async () => {
    const { sender, signed, sign } = await senderWithSigner();
    const intent = payment(sender, { nonce: 4 });
    await signed(intent);
    const refusal = { refused: "DIFFERENT_PAYMENT" };
    const signedWith = { nonce: 4, transactionId: intent.transactionId };
    expect(await sign({ ...intent, nonce: 5 })).toMatchObject({ ...refusal, signed: signedWith });
    for (const purpose of ["payment", "replacement"] as const)
      for (const change of [
        { amount: intent.amount + 1n },
        { destination: `0x${"d2".repeat(20)}` },
        { contract: token },
      ])
        expect(await sign(raised(intent, 50n, { ...change, purpose }))).toMatchObject(refusal);
    const token2 = { contract: token, gasLimit: 65_000n, nonce: 6 };
    const ofToken = payment(sender, token2);
    await signed(ofToken);
    for (const change of [{ contract: null }, { contract: `0x${"71".repeat(20)}` }, { amount: 1n }])
      expect(await sign(raised(ofToken, 50n, change))).toMatchObject(refusal);
  });

  it("cannot have another wallet pay for a transaction that was signed", async () => {
    const { signer, sender, signed, sign } = await senderWithSigner();
    const intent = payment(sender);
    await signed(intent);
    const other = newWallet({ tenantId: sender.tenantId });
    const [address = ""] = await signer.addressesOf([other]);
    expect(await sign({ ...intent, ...other, address })).toMatchObject({ refused: "DIFFERENT_PAYMENT" });
  });

  it("cannot use a nonce for a second transaction", async () => {
    const { sender, signed, sign } = await senderWithSigner();
    const first = payment(sender);
    await signed(first);
    for (const purpose of ["payment", "replacement"] as const)
      expect(await sign(raised(payment(sender), 100n, { purpose }))).toEqual({
        refused: "NONCE_USED",
        reason: `The nonce 0 of ${sender.address} on eip155:31337 was signed for the transaction ${first.transactionId}.`,
        signed: { nonce: 0, transactionId: first.transactionId },
      });
    expect(await sign(cancellation(payment(sender), 100n))).toMatchObject({ refused: "NONCE_USED" });
  });

  it("must raise both fees by 10 % to replace or cancel", async () => {
    const { sender, signed, sign } = await senderWithSigner();
    const intent = payment(sender);
    await signed(intent);
    const refusal = { refused: "FEES_NOT_HIGHER" };
    const { maxFeePerGas, maxPriorityFeePerGas } = intent;
    expect(await sign(raised(intent, 9n))).toMatchObject(refusal);
    expect(await sign(raised(intent, 50n, { maxFeePerGas }))).toMatchObject(refusal);
    expect(await sign(raised(intent, 50n, { maxPriorityFeePerGas }))).toMatchObject(refusal);
    expect(await sign(raised(intent, 50n, { purpose: "payment" }))).toMatchObject(refusal);
    expect(await sign({ ...intent, gasLimit: 22_000n })).toMatchObject(refusal);
    expect(await sign(cancellation(intent, 9n))).toMatchObject(refusal);
    const second = raised(intent, 10n);
    await signed(second);
    expect(await sign(cancellation(intent, 12n))).toMatchObject(refusal);
    await signed(cancellation(second, 10n));
  });

  it("cannot raise a priority fee of 0 to 0", async () => {
    const { sender, signed, sign } = await senderWithSigner();
    const intent = payment(sender, { maxPriorityFeePerGas: 0n });
    await signed(intent);
    expect(await sign(raised(intent, 50n))).toMatchObject({ refused: "FEES_NOT_HIGHER" });
    await signed(raised(intent, 50n, { maxPriorityFeePerGas: 1n }));
  });

  it("cannot go on with a payment after its cancellation, which can be raised", async () => {
    const { sender, signed, sign } = await senderWithSigner();
    const intent = payment(sender);
    await signed(intent);
    await signed(cancellation(intent, 10n));
    expect(await sign(raised(intent, 50n))).toMatchObject({ refused: "CANCELLED" });
    await signed(cancellation(intent, 50n));
  });

  it("cannot burn the funds of a wallet by fees", async () => {
    const { sender, signed, sign } = await senderWithSigner();
    const refusal = { refused: "FEE_ABOVE_LIMIT" };
    const intent = payment(sender);
    expect(await sign({ ...intent, maxFeePerGas: 1000n * gwei + 1n })).toMatchObject(refusal);
    expect(await sign({ ...intent, maxFeePerGas: 1000n * gwei, gasLimit: 100_001n })).toMatchObject(refusal);
    await signed({ ...intent, maxFeePerGas: 1000n * gwei, gasLimit: 100_000n });
    expect(await sign(raised(intent, 4000n))).toMatchObject(refusal);
    expect(await sign(cancellation(intent, 4000n))).toMatchObject(refusal);
  });

  it("has limits of their own for each network", async () => {
    const limit = (network: string, wei: bigint) => ({
      standard: 10n ** 20n,
      ofNetwork: new Map([[network, wei]]),
    });
    const signer = createMemorySigner({
      limits: { perGas: limit("eip155:31337", 50n * gwei), perTransaction: limit("eip155:1", 10n ** 15n) },
    });
    const wallets = [newWallet(), newWallet({ network: "eip155:1" })] as const;
    const [a = "", b = ""] = await signer.addressesOf(wallets);
    const fee = { maxFeePerGas: 51n * gwei };
    const [first, second] = await signer.sign([
      payment({ ...wallets[0], address: a }, fee),
      payment({ ...wallets[1], address: b }, fee),
    ]);
    expect([first, second]).toMatchObject([{ refused: "FEE_ABOVE_LIMIT" }, { refused: "FEE_ABOVE_LIMIT" }]);
  });

  it("cannot name a wallet that the signer does not have, or another tenant, network or address", async () => {
    const { sender, sign } = await senderWithSigner();
    const intent = payment(sender);
    const other = newWallet();
    expect(await sign({ ...intent, walletId: other.walletId })).toMatchObject({ refused: "WALLET_UNKNOWN" });
    expect(await sign({ ...intent, tenantId: other.tenantId })).toMatchObject({ refused: "WALLET_UNKNOWN" });
    expect(await sign({ ...intent, network: "eip155:1" })).toMatchObject({ refused: "INTENT_INVALID" });
    expect(await sign({ ...intent, address: destination, destination: token })).toMatchObject({
      refused: "INTENT_INVALID",
    });
  });
});

describe("what was signed from a nonce on", () => {
  it("is listed in the order of the nonces, with gaps, and once for all attempts", async () => {
    const { sender, signer, signed } = await senderWithSigner();
    const [third, seventh] = [payment(sender, { nonce: 3 }), payment(sender, { nonce: 7 })];
    await signed(payment(sender, { nonce: 2 }));
    await signed(seventh);
    await signed(third);
    await signed(raised(third, 10n));
    await signed(cancellation(third, 25n));
    expect(await signer.signedFrom([{ ...sender, nonce: 3 }])).toEqual([
      [
        { nonce: 3, transactionId: third.transactionId },
        { nonce: 7, transactionId: seventh.transactionId },
      ],
    ]);
    expect(await signer.signedFrom([{ ...sender, nonce: 8 }])).toEqual([[]]);
  });

  it("is refused for a wallet that the signer does not know, because its memory may be too old", async () => {
    const { sender, signer } = await senderWithSigner();
    const strangers = [newWallet(), { ...sender, tenantId: newWallet().tenantId }];
    const answers = await signer.signedFrom(strangers.map((wallet) => ({ ...wallet, nonce: 0 })));
    expect(answers).toMatchObject([{ refused: "WALLET_UNKNOWN" }, { refused: "WALLET_UNKNOWN" }]);
  });
});
