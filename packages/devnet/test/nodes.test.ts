import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../server/test/harness/eventually.js";
import { contracts } from "../src/index.js";
import type { Fault } from "../src/node/faults.js";
import { fundedAccount, newAddress, readerOf, send, sign, useDevnet } from "./devnet-for-tests.js";

const devnet = useDevnet(["--manual", "--safe-depth", "2", "--final-depth", "4"]);
const transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const toHex = (number: number) => `0x${number.toString(16)}`;
const headOf = async () => (await devnet().control("devnet_status", {})).head;

afterEach(async () => {
  for (const node of ["main", "second"] as const) {
    await devnet().control("devnet_setConditions", { node, conditions: {} });
    await devnet().control("devnet_clearFaults", { node });
  }
});

/** Asks a node as a client does, and says what came back. */
async function ask(method: string, params: readonly unknown[] = [], url = devnet().url) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type") === "application/json";
  const body = (isJson ? JSON.parse(text) : { text }) as {
    result?: unknown;
    error?: { code: number; message: string };
    text?: string;
  };
  return { status: response.status, ...body };
}

describe("a fault", () => {
  const fault = (given: Fault) => devnet().control("devnet_addFault", { node: "main", fault: given });

  it("loses the answer to a transaction that was accepted", async () => {
    const account = await fundedAccount(devnet());
    const raw = await sign(account, { nonce: 0 });
    await fault({ methods: ["eth_sendRawTransaction"], effect: { kind: "lost" }, times: 1 });
    await expect(send(devnet(), raw)).rejects.toThrow("fetch failed");
    expect((await devnet().control("devnet_status", {})).pooled).toBe(1);
    await expect(send(devnet(), raw)).rejects.toThrow(/known transaction/i);
    await devnet().control("devnet_mine", {});
    expect(await readerOf(devnet().url).getTransactionCount({ address: account.address })).toBe(1);
  });

  it("cuts the connection before a transaction is accepted", async () => {
    const account = await fundedAccount(devnet());
    const raw = await sign(account, { nonce: 0 });
    await fault({ methods: ["eth_sendRawTransaction"], effect: { kind: "cut" }, times: 1 });
    await expect(send(devnet(), raw)).rejects.toThrow("fetch failed");
    expect((await devnet().control("devnet_status", {})).pooled).toBe(0);
    await send(devnet(), raw);
    await devnet().control("devnet_mine", {});
  });

  it("delays an answer, while what it answers has happened and others are answered", async () => {
    const account = await fundedAccount(devnet());
    await fault({ methods: ["eth_sendRawTransaction"], effect: { kind: "late", delayMs: 1500 } });
    const startedAt = performance.now();
    const sending = send(devnet(), await sign(account, { nonce: 0 }));
    while ((await devnet().control("devnet_status", {})).pooled === 0);
    await devnet().control("devnet_mine", {});
    const hash = await sending;
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(1400);
    expect((await ask("eth_getTransactionReceipt", [hash])).result).not.toBeNull();
  });

  it("answers with another result, with nothing, and with an error", async () => {
    await fault({ methods: ["eth_getTransactionCount"], effect: { kind: "wrong", result: "0x63" } });
    expect((await ask("eth_getTransactionCount", [newAddress(), "pending"])).result).toBe("0x63");
    await fault({ methods: ["eth_getLogs", "eth_getBlockByNumber"], effect: { kind: "empty" } });
    const logs = [{ fromBlock: "0x0", toBlock: "latest", topics: [transferTopic] }];
    expect((await ask("eth_getLogs", logs)).result).toEqual([]);
    expect((await ask("eth_getLogs", logs, devnet().secondUrl)).result).not.toEqual([]);
    expect((await ask("eth_getBlockByNumber", ["latest", false])).result).toBeNull();
  });

  it.each([true, false])(
    "answers a transaction with an error; it was carried out: %s",
    async (carriedOut) => {
      const account = await fundedAccount(devnet());
      const effect = { kind: "error", code: -32000, message: "already known", carriedOut } as const;
      await fault({ methods: ["eth_sendRawTransaction"], effect, times: 1 });
      await expect(send(devnet(), await sign(account, { nonce: 0 }))).rejects.toThrow("already known");
      expect((await devnet().control("devnet_listPool", {})).length).toBe(carriedOut ? 1 : 0);
      await devnet().control("devnet_dropTransactions", {});
    },
  );

  it("answers as a proxy does that has no node behind it", async () => {
    const body = "<html>Bad gateway</html>";
    await fault({ methods: ["eth_chainId"], effect: { kind: "status", status: 502, body }, times: 1 });
    expect(await ask("eth_chainId")).toEqual({ status: 502, text: body });
    expect((await ask("eth_chainId")).result).toBe("0x7a69");
  });

  it("hits one request in some, a number of times, and counts", async () => {
    const number = await fault({
      methods: ["eth_chainId"],
      effect: { kind: "empty" },
      every: 3,
      times: 2,
    });
    const results: unknown[] = [];
    for (let index = 0; index < 9; index++) results.push((await ask("eth_chainId")).result);
    const hit = results.map((result) => result === null);
    expect(hit).toEqual([true, false, false, true, false, false, false, false, false]);
    expect(await devnet().control("devnet_listFaults", { node: "main" })).toEqual({ [number]: 2 });
  });

  it("of one call cuts the batch that it is in", async () => {
    await fault({ methods: ["eth_gasPrice"], effect: { kind: "cut" }, times: 1 });
    const batch = ["eth_chainId", "eth_gasPrice"].map((method, id) => ({ jsonrpc: "2.0", id, method }));
    const post = () =>
      fetch(devnet().url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(batch),
      });
    await expect(post()).rejects.toThrow("fetch failed");
    expect(await (await post()).json()).toHaveLength(2);
  });
});

describe("a node", () => {
  let hash = "";
  beforeAll(async () => {
    for (let count = 0; count < 8; count++) {
      hash = await devnet().control("devnet_fund", { address: newAddress(), amount: "1", asset: "USDC" });
      await devnet().control("devnet_mine", {});
    }
  });

  it("can lag behind the other in everything that it answers", async () => {
    const account = await fundedAccount(devnet());
    const last = await send(devnet(), await sign(account, { nonce: 0 }));
    const [block] = await devnet().control("devnet_mine", {});
    const head = await headOf();
    await devnet().control("devnet_setConditions", { node: "second", conditions: { lagBlocks: 1 } });
    const second = (method: string, params: readonly unknown[] = []) =>
      ask(method, params, devnet().secondUrl);
    const before = toHex(head.number - 1);
    expect((await second("eth_blockNumber")).result).toBe(before);
    expect((await second("eth_getBlockByNumber", ["latest", false])).result).toMatchObject({
      number: before,
    });
    expect((await second("eth_getBlockByNumber", ["finalized", false])).result).toMatchObject({
      number: toHex(head.number - 5),
    });
    expect((await second("eth_getBlockByNumber", [toHex(head.number), false])).result).toBeNull();
    expect((await second("eth_getBlockByHash", [block?.hash, false])).result).toBeNull();
    expect((await second("eth_getBlockReceipts", [block?.hash])).result).toBeNull();
    expect((await second("eth_getTransactionReceipt", [last])).result).toBeNull();
    expect((await second("eth_getTransactionByHash", [last])).result).toMatchObject({ blockNumber: null });
    expect((await second("eth_getTransactionCount", [account.address])).result).toBe("0x0");
    expect((await second("eth_getTransactionCount", [account.address, "pending"])).result).toBe("0x0");
    expect((await second("eth_getBalance", [account.address, toHex(head.number)])).error?.message).toBe(
      "header not found",
    );
    expect((await second("eth_getLogs", [{ blockHash: block?.hash }])).error).toBeDefined();
    expect((await ask("eth_getTransactionCount", [account.address])).result).toBe("0x1");
  });

  it("that lags ends a range of logs at its own newest block, without an error", async () => {
    const all = [{ address: contracts.USDC.address, fromBlock: "0x0", toBlock: "0xffff" }];
    const count = async (url: string) => ((await ask("eth_getLogs", all, url)).result as unknown[]).length;
    const before = await count(devnet().secondUrl);
    await devnet().control("devnet_fund", { address: newAddress(), amount: "1", asset: "USDC" });
    await devnet().control("devnet_mine", {});
    await devnet().control("devnet_setConditions", { node: "second", conditions: { lagBlocks: 1 } });
    expect([await count(devnet().url), await count(devnet().secondUrl)]).toEqual([before + 1, before]);
  });

  it("can disagree about the hash of a block and all after it, everywhere", async () => {
    const head = await headOf();
    const forkedFrom = head.number - 2;
    await devnet().control("devnet_setConditions", { node: "second", conditions: { forkedFrom } });
    const [main, second] = [readerOf(devnet().url), readerOf(devnet().secondUrl)];
    const hashAt = async (reader: typeof main, number: number) =>
      (await reader.getBlock({ blockNumber: BigInt(number) })).hash;
    expect(await hashAt(second, forkedFrom - 1)).toBe(await hashAt(main, forkedFrom - 1));
    for (const number of [forkedFrom, head.number])
      expect(await hashAt(second, number)).not.toBe(await hashAt(main, number));
    const block = await second.getBlock();
    expect(block.parentHash).toBe(await hashAt(second, head.number - 1));
    expect((await second.getBlock({ blockHash: block.hash })).number).toBe(block.number);
    await expect(second.getBlock({ blockHash: head.hash as `0x${string}` })).rejects.toThrow(
      "could not be found",
    );
    const receipt = await second.getTransactionReceipt({ hash: hash as `0x${string}` });
    expect(receipt.blockHash).toBe(await hashAt(second, Number(receipt.blockNumber)));
  });

  it("can claim to be on another chain", async () => {
    await devnet().control("devnet_setConditions", { node: "main", conditions: { chainId: 1 } });
    expect(await readerOf(devnet().url).getChainId()).toBe(1);
    expect((await ask("net_version")).result).toBe("1");
    expect(await readerOf(devnet().secondUrl).getChainId()).toBe(31_337);
  });

  it.each([
    ["alchemy", -32602, /^Log response size exceeded\..*should work: \[0x0, 0x2\]$/],
    ["base", -32614, /^eth_getLogs is limited to a 3 range$/],
    ["cloudflare", -32047, /range too large\. Max range: 3$/],
    ["infura", -32602, /^range 4 exceeds limit of 3$/],
    ["quicknode", -32614, /limited to a 3 range/],
    ["reth", -32602, /^query exceeds max block range 3$/],
  ] as const)("refuses a wide range of logs as %s does", async (provider, code, message) => {
    const conditions = { logsRangeMax: 3, provider };
    await devnet().control("devnet_setConditions", { node: "main", conditions });
    const range = (toBlock: number) => ask("eth_getLogs", [{ fromBlock: "0x0", toBlock: toHex(toBlock) }]);
    expect((await range(3)).error).toEqual({ code, message: expect.stringMatching(message) });
    expect((await range(2)).error).toBeUndefined();
  });

  it("refuses a range with too many logs, and answers a part of it", async () => {
    const conditions = { logsResultsMax: 5, provider: "infura" } as const;
    await devnet().control("devnet_setConditions", { node: "main", conditions });
    expect((await ask("eth_getLogs", [{ fromBlock: "0x0", toBlock: "latest" }])).error).toEqual({
      code: -32005,
      message: "query returned more than 5 results",
    });
    expect((await ask("eth_getLogs", [{ fromBlock: "0x2", toBlock: "0x3" }])).error).toBeUndefined();
  });

  it.each([
    ["alchemy", 429],
    ["base", -32016],
    ["infura", -32005],
    ["quicknode", -32007],
    ["reth", -32005],
  ] as const)("refuses calls above a rate as %s does, with 429", async (provider, code) => {
    await devnet().control("devnet_setConditions", {
      node: "main",
      conditions: { callsPerSecondMax: 1, provider },
    });
    const askMany = () => Promise.all(Array.from({ length: 8 }, () => ask("eth_chainId")));
    const answers = await eventually(askMany, (given) => given.some(({ status }) => status === 429));
    const refused = answers.filter(({ status }) => status === 429);
    expect(new Set(refused.map(({ error }) => error?.code))).toEqual(new Set([code]));
  });
});
