import { parseGwei } from "viem";
import { afterEach, describe, expect, it } from "vitest";
import { decode, fundedAccount, newAddress, readerOf, send, sign, useDevnet } from "./devnet-for-tests.js";

const devnet = useDevnet();
const pooled = async () => (await devnet().control("devnet_listPool", {})).map(({ hash }) => hash);

afterEach(async () => {
  await devnet().control("devnet_setPool", { mode: "mempool" });
  await devnet().control("devnet_setBaseFee", {});
  await devnet().control("devnet_dropTransactions", {});
});

describe("the pool", () => {
  it("takes transactions that another library reads in the same way", async () => {
    const account = await fundedAccount(devnet());
    const to = newAddress();
    const raw = await sign(account, { nonce: 0, to, value: 12_345n });
    const hash = await send(devnet(), raw);
    const decoded = decode(raw);
    expect(decoded).toMatchObject({ hash, value: 12_345n, nonce: 0, chainId: 31_337, isValid: true });
    expect([decoded.from, decoded.to]).toEqual([account.address.toLowerCase(), to.toLowerCase()]);
    await devnet().control("devnet_mine", {});
    const reader = readerOf(devnet().url);
    expect(await reader.getTransaction({ hash })).toMatchObject({
      from: decoded.from,
      to: decoded.to,
      value: decoded.value,
      nonce: decoded.nonce,
      maxFeePerGas: decoded.maxFeePerGas,
    });
    expect(await reader.getBalance({ address: to })).toBe(12_345n);
  });

  it("keeps a transaction with a gap before it until the gap is filled", async () => {
    const account = await fundedAccount(devnet());
    const later = await send(devnet(), await sign(account, { nonce: 1 }));
    await devnet().control("devnet_mine", {});
    expect(await pooled()).toEqual([later]);
    await send(devnet(), await sign(account, { nonce: 0 }));
    await devnet().control("devnet_mine", {});
    expect(await pooled()).toEqual([]);
  });

  it("replaces a transaction if both fees are higher by a tenth, and forgets the old one", async () => {
    const account = await fundedAccount(devnet());
    const fees = (factor: bigint) => ({
      maxFeePerGas: (parseGwei("10") * factor) / 100n,
      maxPriorityFeePerGas: (parseGwei("1") * factor) / 100n,
    });
    const old = await send(devnet(), await sign(account, { nonce: 0, ...fees(100n) }));
    await expect(send(devnet(), await sign(account, { nonce: 0, ...fees(109n) }))).rejects.toThrow();
    const replacing = await send(devnet(), await sign(account, { nonce: 0, ...fees(110n) }));
    expect(await pooled()).toEqual([replacing]);
    expect(await devnet().request("eth_getTransactionByHash", [old])).toBeNull();
  });

  it("can mine exactly the given transactions, also one that was replaced, and keeps the others", async () => {
    const account = await fundedAccount(devnet());
    const second = await fundedAccount(devnet());
    const waiting = await send(devnet(), await sign(second, { nonce: 0 }));
    const old = await sign(account, { nonce: 0 });
    const higher = { maxFeePerGas: parseGwei("200"), maxPriorityFeePerGas: parseGwei("2") };
    await send(devnet(), old);
    const replacing = await send(devnet(), await sign(account, { nonce: 0, ...higher }));
    await devnet().control("devnet_mine", { transactions: [old] });
    expect(await devnet().request("eth_getTransactionReceipt", [decode(old).hash])).not.toBeNull();
    expect(await devnet().request("eth_getTransactionByHash", [replacing])).toBeNull();
    expect(await pooled()).toEqual([waiting]);
    const [empty] = await devnet().control("devnet_mine", { transactions: [] });
    const block = await readerOf(devnet().url).getBlock({ blockNumber: BigInt(empty?.number ?? 0) });
    expect(block.transactions).toEqual([]);
    expect(await pooled()).toEqual([waiting]);
  });

  it("drops transactions, which can then be sent again", async () => {
    const account = await fundedAccount(devnet());
    const raws = await Promise.all([0, 1, 2].map((nonce) => sign(account, { nonce })));
    const hashes: string[] = [];
    for (const raw of raws) hashes.push(await send(devnet(), raw));
    expect(await devnet().control("devnet_dropTransactions", { hashes: [hashes[1] ?? ""] })).toEqual([
      hashes[1],
    ]);
    await devnet().control("devnet_mine", {});
    expect(await pooled()).toEqual([hashes[2]]);
    expect(await send(devnet(), raws[1] ?? "")).toBe(hashes[1]);
    await devnet().control("devnet_mine", {});
    expect(await readerOf(devnet().url).getTransactionCount({ address: account.address })).toBe(3);
  });

  it("refuses a nonce that is not the next one, if the chain has a sequencer instead", async () => {
    await devnet().control("devnet_setPool", { mode: "sequencer" });
    const account = await fundedAccount(devnet());
    await expect(send(devnet(), await sign(account, { nonce: 1 }))).rejects.toThrow(
      /^nonce too high: address 0x/,
    );
    expect(await pooled()).toEqual([]);
    const hashes: string[] = [];
    for (const nonce of [0, 1]) hashes.push(await send(devnet(), await sign(account, { nonce })));
    expect(await pooled()).toEqual(hashes);
  });

  it("refuses a transaction that was signed for another chain", async () => {
    const account = await fundedAccount(devnet());
    await expect(send(devnet(), await sign(account, { nonce: 0, chainId: 1 }))).rejects.toThrow();
  });
});

describe("the base fee", () => {
  it("can be set for one block, and a transaction that pays less waits", async () => {
    const account = await fundedAccount(devnet());
    const reader = readerOf(devnet().url);
    await devnet().control("devnet_setBaseFee", { wei: parseGwei("500").toString() });
    const hash = await send(devnet(), await sign(account, { nonce: 0, maxFeePerGas: parseGwei("100") }));
    await devnet().control("devnet_mine", {});
    expect((await reader.getBlock()).baseFeePerGas).toBe(parseGwei("500"));
    expect(await pooled()).toEqual([hash]);
    await devnet().control("devnet_mine", {});
    expect((await reader.getBlock()).baseFeePerGas).toBeLessThan(parseGwei("500"));
  });

  it("is the only fee of this kind of chain", async () => {
    const zero = { baseFee: "0", baseFeeScalar: "0", blobBaseFee: "0", blobBaseFeeScalar: "0" };
    const fee = { ...zero, operatorFeeScalar: "0", operatorFeeConstant: "0" };
    await expect(devnet().control("devnet_setDataFee", fee)).rejects.toThrow("Only a chain of the kind `op`");
  });

  it("can be held until it is released", async () => {
    const reader = readerOf(devnet().url);
    await devnet().control("devnet_setBaseFee", { wei: "7000000000", hold: true });
    await devnet().control("devnet_mine", { blocks: 3 });
    expect((await reader.getBlock()).baseFeePerGas).toBe(parseGwei("7"));
    await devnet().control("devnet_setBaseFee", {});
    await devnet().control("devnet_mine", {});
    expect((await reader.getBlock()).baseFeePerGas).toBeLessThan(parseGwei("7"));
  });
});
