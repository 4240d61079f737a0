import { describe, expect, it } from "vitest";
import { contracts } from "../src/index.js";
import { fundedAccount, newAddress, readerOf, send, sign, useDevnet } from "./devnet-for-tests.js";

const devnet = useDevnet(["--manual", "--kind", "op"]);

const fee = {
  baseFee: "20000000000",
  baseFeeScalar: "5227",
  blobBaseFee: "3000000",
  blobBaseFeeScalar: "1014213",
  operatorFeeScalar: "0",
  operatorFeeConstant: "0",
};

/** Sends a payment, and compares what left the account with what the receipt says. */
async function pay(data?: `0x${string}`) {
  const account = await fundedAccount(devnet());
  const reader = readerOf(devnet().url);
  const before = await reader.getBalance({ address: account.address });
  const raw = await sign(account, {
    nonce: 0,
    to: newAddress(),
    value: 1000n,
    gas: 500_000n,
    ...(data === undefined ? {} : { data }),
  });
  const hash = await send(devnet(), raw);
  await devnet().control("devnet_mine", {});
  const receipt = (await devnet().request("eth_getTransactionReceipt", [hash])) as Record<string, string>;
  const spent = before - (await reader.getBalance({ address: account.address }));
  const gas = BigInt(receipt["gasUsed"] ?? 0) * BigInt(receipt["effectiveGasPrice"] ?? 0);
  return {
    receipt,
    spent,
    gas,
    l1Fee: BigInt(receipt["l1Fee"] ?? 0),
    gasUsed: BigInt(receipt["gasUsed"] ?? 0),
  };
}

describe("a chain of the OP stack", () => {
  it("charges a data fee beside the gas, to the wei, and names it in the receipt", async () => {
    const { spent, gas, l1Fee } = await pay();
    expect(l1Fee).toBeGreaterThan(0n);
    expect(spent).toBe(1000n + gas + l1Fee);
  });

  it("charges more for more data, and for a higher fee of the data", async () => {
    const small = await pay();
    const random = Array.from({ length: 500 }, (_, index) =>
      ((index * 7919 + 13) % 251).toString(16).padStart(2, "0"),
    );
    const large = await pay(`0x${random.join("")}`);
    expect(large.l1Fee).toBeGreaterThan(small.l1Fee);
    expect(large.spent).toBe(1000n + large.gas + large.l1Fee);
    await devnet().control("devnet_setDataFee", fee);
    const dear = await pay();
    expect(dear.l1Fee).toBeGreaterThan(small.l1Fee);
    expect(dear.spent).toBe(1000n + dear.gas + dear.l1Fee);
  });

  it("charges an operator fee, if there is one", async () => {
    await devnet().control("devnet_setDataFee", {
      ...fee,
      operatorFeeScalar: "2000000",
      operatorFeeConstant: "777",
    });
    const { spent, gas, l1Fee, gasUsed, receipt } = await pay();
    expect(receipt).toMatchObject({ operatorFeeScalar: "0x1e8480", operatorFeeConstant: "0x309" });
    expect(spent).toBe(1000n + gas + l1Fee + (gasUsed * 2_000_000n) / 1_000_000n + 777n);
  });

  it("charges nobody for a call, as nodes of such chains do", async () => {
    const decimals = { to: contracts.USDC.address, data: "0x313ce567" };
    for (const from of [undefined, newAddress()])
      expect(BigInt((await devnet().request("eth_call", [{ ...decimals, from }])) as string)).toBe(6n);
  });
});
