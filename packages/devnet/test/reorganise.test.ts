import { parseGwei } from "viem";
import { describe, expect, it } from "vitest";
import { contracts } from "../src/index.js";
import {
  decode,
  fundedAccount,
  headHash,
  newAddress,
  readerOf,
  send,
  sign,
  useDevnet,
} from "./devnet-for-tests.js";

const devnet = useDevnet(["--manual", "--final-depth", "6", "--safe-depth", "3"]);

interface Receipt {
  readonly blockHash: string;
  readonly blockNumber: string;
  readonly logs: readonly { readonly logIndex: string; readonly transactionHash: string }[];
}

const receiptOf = async (hash: string) =>
  (await devnet().request("eth_getTransactionReceipt", [hash])) as Receipt | null;

/** A payment in each of the last `count` blocks. */
async function payInBlocks(count: number): Promise<`0x${string}`[]> {
  const account = await fundedAccount(devnet());
  const hashes: `0x${string}`[] = [];
  for (let nonce = 0; nonce < count; nonce++) {
    hashes.push(await send(devnet(), await sign(account, { nonce })));
    await devnet().control("devnet_mine", {});
  }
  return hashes;
}

describe("a reorganisation", () => {
  const depths = [1, 2, 3, 4, 5, 6, 7, 8];

  it.each(depths)("of %i blocks includes the removed transactions in other blocks", async (depth) => {
    const hashes = await payInBlocks(depth);
    const before = await Promise.all(hashes.map(receiptOf));
    const { removed, added } = await devnet().control("devnet_reorganise", {
      depth,
      transactions: "include",
    });
    expect(added.map(({ number }) => number)).toEqual(removed.map(({ number }) => number));
    expect(added.filter(({ hash }) => removed.some((block) => block.hash === hash))).toEqual([]);
    const after = await Promise.all(hashes.map(receiptOf));
    expect(after.map((receipt) => receipt?.blockHash)).toEqual(hashes.map(() => added[0]?.hash));
    expect(after.map((receipt) => receipt?.blockHash)).not.toEqual(
      before.map((receipt) => receipt?.blockHash),
    );
    for (const { hash } of removed)
      expect(await devnet().request("eth_getBlockByHash", [hash, false])).toBeNull();
  });

  it.each(depths)(
    "of %i blocks without their transactions leaves them unknown, with longer content",
    async (depth) => {
      const hashes = await payInBlocks(depth);
      const { removed, added } = await devnet().control("devnet_reorganise", {
        depth,
        add: depth + 1,
        transactions: "drop",
      });
      expect([removed.length, added.length]).toEqual([depth, depth + 1]);
      expect(await Promise.all(hashes.map(receiptOf))).toEqual(hashes.map(() => null));
      expect(await devnet().request("eth_getTransactionByHash", [hashes[0]])).toBeNull();
      expect(await headHash(devnet())).toBe(added.at(-1)?.hash);
    },
  );

  it("links the new blocks to each other and to what is below", async () => {
    await payInBlocks(4);
    const { added } = await devnet().control("devnet_reorganise", {
      depth: 3,
      add: 5,
      transactions: "include",
    });
    const reader = readerOf(devnet().url);
    for (const { number, hash } of added) {
      const block = await reader.getBlock({ blockNumber: BigInt(number) });
      expect(block.hash).toBe(hash);
      expect(block.parentHash).toBe((await reader.getBlock({ blockNumber: BigInt(number - 1) })).hash);
    }
  });

  it("returns the removed transactions to the pool, from which the next block takes them", async () => {
    const hashes = await payInBlocks(3);
    await devnet().control("devnet_reorganise", { depth: 3, transactions: "return" });
    expect(await receiptOf(hashes[2] ?? "")).toBeNull();
    expect((await devnet().control("devnet_listPool", {})).map(({ hash }) => hash)).toEqual(hashes);
    const [block] = await devnet().control("devnet_mine", {});
    expect((await receiptOf(hashes[2] ?? ""))?.blockHash).toBe(block?.hash);
  });

  it("keeps what is in the pool, and what was sent after the removed blocks", async () => {
    await payInBlocks(2);
    const account = await fundedAccount(devnet());
    const waiting = [
      await send(devnet(), await sign(account, { nonce: 0 })),
      await send(devnet(), await sign(account, { nonce: 1 })),
    ];
    await devnet().control("devnet_reorganise", { depth: 1, transactions: "include" });
    expect((await devnet().control("devnet_listPool", {})).map(({ hash }) => hash)).toEqual(waiting);
    await devnet().control("devnet_mine", {});
  });

  it("can put other transactions first, so that a log has another index in its block", async () => {
    const account = await fundedAccount(devnet());
    const hash = await devnet().control("devnet_fund", { address: newAddress(), amount: "5", asset: "USDC" });
    await devnet().control("devnet_mine", {});
    expect((await receiptOf(hash))?.logs[0]?.logIndex).toBe("0x0");
    const mint = `0x40c10f19${account.address.slice(2).padStart(64, "0")}${"7".padStart(64, "0")}` as const;
    const first = await sign(account, {
      nonce: 0,
      to: contracts.USDC.address,
      value: 0n,
      gas: 100_000n,
      data: mint,
    });
    await devnet().control("devnet_reorganise", { depth: 1, transactions: "include", first: [[first]] });
    expect((await receiptOf(hash))?.logs[0]?.logIndex).toBe("0x1");
  });

  it("can include another transaction with the nonce of a removed one, which is then gone", async () => {
    const account = await fundedAccount(devnet());
    const hash = await send(devnet(), await sign(account, { nonce: 0, value: 1n }));
    await devnet().control("devnet_mine", {});
    const other = await sign(account, { nonce: 0, value: 2n });
    await devnet().control("devnet_reorganise", { depth: 1, transactions: "include", first: [[other]] });
    expect(await devnet().request("eth_getTransactionByHash", [hash])).toBeNull();
    expect(await receiptOf(decode(other).hash)).not.toBeNull();
    expect(await readerOf(devnet().url).getTransactionCount({ address: account.address })).toBe(1);
  });

  it("can reach below the final block, which then has another hash", async () => {
    await payInBlocks(8);
    const reader = readerOf(devnet().url);
    const before = await reader.getBlock({ blockTag: "finalized" });
    await devnet().control("devnet_reorganise", { depth: 8, transactions: "include" });
    const after = await reader.getBlock({ blockTag: "finalized" });
    expect(after.number).toBe(before.number);
    expect(after.hash).not.toBe(before.hash);
  });

  it("never shows a head that goes back", async () => {
    await payInBlocks(8);
    const numbers: number[] = [];
    let isDone = false;
    const watch = async () => {
      while (!isDone) numbers.push(Number(await devnet().request("eth_blockNumber")));
    };
    const watching = [watch(), watch(), watch()];
    for (let depth = 1; depth <= 8; depth++)
      await devnet().control("devnet_reorganise", { depth, transactions: "return" });
    isDone = true;
    await Promise.all(watching);
    expect(new Set(numbers).size).toBe(1);
  });

  it("can reach back 64 blocks, again and again, and keeps what was set below", async () => {
    const address = newAddress();
    await devnet().control("devnet_mine", { blocks: 20 });
    await devnet().control("devnet_setBalance", { address, wei: "77" });
    const from = (await devnet().control("devnet_status", {})).head;
    await devnet().control("devnet_mine", { blocks: 70 });
    // Some of these end exactly where the EVM has a snapshot, which can be used once.
    for (const depth of [64, 1, ...Array.from({ length: 17 }, (_, index) => 64 - index), 64]) {
      const { added } = await devnet().control("devnet_reorganise", { depth, transactions: "drop" });
      expect(added.length).toBe(depth);
    }
    const reader = readerOf(devnet().url);
    expect((await reader.getBlock({ blockNumber: BigInt(from.number) })).hash).toBe(from.hash);
    expect(await reader.getBalance({ address })).toBe(77n);
  });

  it("takes back what was set after the first removed block, and not what was set before it", async () => {
    const [before, after] = [newAddress(), newAddress()];
    await devnet().control("devnet_mine", {});
    await devnet().control("devnet_setBalance", { address: before, wei: "1" });
    await devnet().control("devnet_mine", {});
    await devnet().control("devnet_setBalance", { address: after, wei: "1" });
    await devnet().control("devnet_reorganise", { depth: 1, transactions: "drop" });
    const reader = readerOf(devnet().url);
    expect([
      await reader.getBalance({ address: before }),
      await reader.getBalance({ address: after }),
    ]).toEqual([1n, 0n]);
  });

  it("is refused if it is deeper than the chain remembers, or would shorten it", async () => {
    const { head } = await devnet().control("devnet_status", {});
    await expect(
      devnet().control("devnet_reorganise", { depth: 2, add: 1, transactions: "drop" }),
    ).rejects.toMatchObject({ code: -32602 });
    await expect(
      devnet().control("devnet_reorganise", { depth: 65, transactions: "drop" }),
    ).rejects.toMatchObject({ code: -32602 });
    expect((await devnet().control("devnet_status", {})).head).toEqual(head);
  });

  it("has fees that pay the miner of its own branch", async () => {
    const account = await fundedAccount(devnet());
    await send(devnet(), await sign(account, { nonce: 0, maxPriorityFeePerGas: parseGwei("2") }));
    await devnet().control("devnet_mine", {});
    const reader = readerOf(devnet().url);
    const before = await reader.getBlock();
    await devnet().control("devnet_reorganise", { depth: 1, transactions: "include" });
    expect((await reader.getBlock()).miner).not.toBe(before.miner);
  });
});
