import { setTimeout as sleep } from "node:timers/promises";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { eventually } from "../../server/test/harness/eventually.js";
import { contracts } from "../src/index.js";
import { newAddress, readerOf, send, sign, useDevnet } from "./devnet-for-tests.js";

const blockTimeMs = 20;
const devnet = useDevnet(["--block-time-ms", String(blockTimeMs), "--safe-depth", "2", "--final-depth", "4"]);
const status = () => devnet().control("devnet_status", {});
const resting = () => eventually(status, ({ isResting }) => isResting);

describe("a chain that mines by itself", () => {
  it("begins with contracts that are final, and a head that is not", async () => {
    const reader = readerOf(devnet().url);
    const [latest, finalized] = [
      await reader.getBlock({ blockTag: "latest" }),
      await reader.getBlock({ blockTag: "finalized" }),
    ];
    expect([latest.number, finalized.number]).toEqual([5n, 1n]);
    expect(latest.timestamp).toBe(finalized.timestamp + 4n);
    expect(await reader.getCode({ address: contracts.USDC.address, blockTag: "finalized" })).toMatch(
      /^0x\w+$/,
    );
  });

  it("mines until the last transaction is final, and then rests", async () => {
    const before = await resting();
    const hash = await devnet().control("devnet_fund", { address: newAddress(), amount: "1", asset: "ETH" });
    const after = await resting();
    const receipt = await readerOf(devnet().url).getTransactionReceipt({ hash: hash as `0x${string}` });
    expect(receipt.blockNumber).toBe(BigInt(before.head.number + 1));
    expect(after.finalized).toBe(before.head.number + 1);
    await sleep(10 * blockTimeMs);
    expect((await status()).head).toEqual(after.head);
  });

  it("rests while a transaction waits for one that nobody has sent", async () => {
    const account = privateKeyToAccount(generatePrivateKey());
    await devnet().control("devnet_setBalance", { address: account.address, wei: (10n ** 18n).toString() });
    const before = await resting();
    await send(devnet(), await sign(account, { nonce: 1 }));
    const after = await resting();
    expect(after.head).toEqual(before.head);
    await send(devnet(), await sign(account, { nonce: 0 }));
    expect((await eventually(resting, ({ pooled }) => pooled === 0)).finalized).toBe(before.head.number + 1);
  });

  it("mines empty blocks until a transaction with a low fee can pay", async () => {
    const account = privateKeyToAccount(generatePrivateKey());
    await devnet().control("devnet_setBalance", { address: account.address, wei: (10n ** 18n).toString() });
    await devnet().control("devnet_setBaseFee", { wei: "100000000000" });
    await devnet().control("devnet_mine", {});
    const fees = { maxFeePerGas: 60_000_000_000n, maxPriorityFeePerGas: 1n };
    const hash = await send(devnet(), await sign(account, { nonce: 0, ...fees }));
    await eventually(status, ({ pooled }) => pooled === 0);
    const receipt = await readerOf(devnet().url).getTransactionReceipt({ hash });
    expect(receipt.effectiveGasPrice).toBeLessThanOrEqual(60_000_000_000n);
    await resting();
  });

  it("makes the blocks of a reorganisation final", async () => {
    const before = await resting();
    const { added } = await devnet().control("devnet_reorganise", {
      depth: 2,
      add: 3,
      transactions: "include",
    });
    const after = await eventually(resting, ({ finalized }) => finalized >= before.head.number + 1);
    expect(after.finalized).toBe(added.at(-1)?.number);
  });

  it("stops and starts with its mode", async () => {
    await resting();
    await devnet().control("devnet_setMining", { mode: "manual" });
    await devnet().control("devnet_fund", { address: newAddress(), amount: "1", asset: "ETH" });
    await sleep(10 * blockTimeMs);
    expect((await status()).pooled).toBe(1);
    await devnet().control("devnet_setMining", { mode: "interval", blockTimeMs });
    await eventually(status, ({ pooled }) => pooled === 0);
  });
});
