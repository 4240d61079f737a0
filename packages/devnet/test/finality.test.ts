import { beforeAll, describe, expect, it } from "vitest";
import { contracts, faucet } from "../src/index.js";
import { methods } from "../src/node/methods.js";
import { fundedAccount, newAddress, readerOf, send, sign, useDevnet } from "./devnet-for-tests.js";

const devnet = useDevnet(["--manual", "--safe-depth", "2", "--final-depth", "5"]);
const transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

describe("safe and finalized", () => {
  const address = newAddress();
  let head = 0;

  beforeAll(async () => {
    // Every block changes the balance, the nonce and the logs, so that no two blocks answer the same.
    const account = await fundedAccount(devnet());
    for (let nonce = 0; nonce < 10; nonce++) {
      await send(devnet(), await sign(account, { nonce, to: address, value: 1n }));
      await devnet().control("devnet_fund", { address, amount: "1", asset: "USDC" });
      await devnet().control("devnet_mine", {});
    }
    head = (await devnet().control("devnet_status", {})).head.number;
  });

  it("are as many blocks behind the head as configured, as viem sees them", async () => {
    const reader = readerOf(devnet().url);
    expect((await reader.getBlock({ blockTag: "latest" })).number).toBe(BigInt(head));
    expect((await reader.getBlock({ blockTag: "safe" })).number).toBe(BigInt(head - 2));
    expect((await reader.getBlock({ blockTag: "finalized" })).number).toBe(BigInt(head - 5));
    expect(await reader.getBalance({ address, blockTag: "finalized" })).toBe(5n);
    expect(await reader.getBalance({ address, blockTag: "safe" })).toBe(8n);
    expect(await reader.getBalance({ address })).toBe(10n);
  });

  /** Parameters of every method that takes a block; `BLOCK` is where the tag goes. */
  const requests: Record<string, readonly unknown[]> = {
    debug_traceCall: [{ from: faucet.address, to: address, value: "0x1" }, "BLOCK"],
    eth_call: [
      { to: contracts.USDC.address, data: `0x70a08231${address.slice(2).padStart(64, "0")}` },
      "BLOCK",
    ],
    eth_estimateGas: [{ from: faucet.address, to: address, value: "0x1" }, "BLOCK"],
    eth_feeHistory: ["0x2", "BLOCK", [50]],
    eth_getBalance: [address, "BLOCK"],
    eth_getBlockByNumber: ["BLOCK", true],
    eth_getBlockReceipts: ["BLOCK"],
    eth_getBlockTransactionCountByNumber: ["BLOCK"],
    eth_getCode: [contracts.USDC.address, "BLOCK"],
    eth_getLogs: [{ fromBlock: "BLOCK", toBlock: "BLOCK", topics: [transferTopic] }],
    eth_getStorageAt: [contracts.USDC.address, "0x2", "BLOCK"],
    eth_getTransactionByBlockNumberAndIndex: ["BLOCK", "0x0"],
    eth_getTransactionCount: [faucet.address, "BLOCK"],
  };
  const withBlock = (name: string, block: string): unknown[] =>
    JSON.parse(JSON.stringify(requests[name]).replaceAll("BLOCK", block));

  it("are tested with every method that takes a block", () => {
    const taking = Object.entries(methods).filter(([, { block, filter }]) => block !== undefined || filter);
    expect(Object.keys(requests).sort()).toEqual(taking.map(([name]) => name).sort());
  });

  it.each(Object.keys(requests))("mean the same block in %s", async (name) => {
    for (const [tag, behind] of [
      ["safe", 2],
      ["finalized", 5],
    ] as const) {
      const number = `0x${(head - behind).toString(16)}`;
      const byTag = await devnet().request(name, withBlock(name, tag));
      expect(byTag).toEqual(await devnet().request(name, withBlock(name, number)));
    }
  });

  it.each(["eth_call", "eth_getBalance", "eth_getBlockByNumber", "eth_getLogs", "eth_getTransactionCount"])(
    "differ from the head in %s",
    async (name) => {
      const latest = await devnet().request(name, withBlock(name, "latest"));
      expect(await devnet().request(name, withBlock(name, "safe"))).not.toEqual(latest);
    },
  );

  it("follow the depths when these change", async () => {
    await devnet().control("devnet_setFinality", { safeDepth: 1, finalDepth: 1000 });
    expect(await devnet().control("devnet_status", {})).toMatchObject({ safe: head - 1, finalized: 0 });
    await expect(
      devnet().control("devnet_setFinality", { safeDepth: 3, finalDepth: 2 }),
    ).rejects.toMatchObject({ code: -32602 });
  });
});
