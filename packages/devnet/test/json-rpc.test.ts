import { describe, expect, it } from "vitest";
import { fundedAccount, readerOf, send, sign, useDevnet } from "./devnet-for-tests.js";

const devnet = useDevnet();

async function post(body: string, headers: Record<string, string> = {}, path = "/") {
  return await fetch(`${devnet().url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });
}

const call = (method: string, params?: unknown, id: unknown = 7) =>
  JSON.stringify({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) });

describe("JSON-RPC over HTTP", () => {
  it("answers a request without params, as viem sends them", async () => {
    const reader = readerOf(devnet().url);
    expect(await reader.getGasPrice()).toBeGreaterThan(0n);
    expect(await reader.getChainId()).toBe(31_337);
    expect(await (await post(call("eth_chainId"))).json()).toEqual({
      jsonrpc: "2.0",
      id: 7,
      result: "0x7a69",
    });
  });

  it("answers a batch in its order, with an error for each request that has one", async () => {
    const batch = [
      call("eth_chainId", [], "a"),
      call("eth_nothing", [], 2),
      "3",
      call("eth_blockNumber", [], 4),
    ];
    const answers = (await (await post(`[${batch.join(",")}]`)).json()) as {
      id: unknown;
      error?: { code: number };
    }[];
    expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
      ["a", undefined],
      [2, -32601],
      [null, -32600],
      [4, undefined],
    ]);
  });

  it.each([
    ["not JSON", "{", -32700],
    ["an empty batch", "[]", -32600],
    ["a batch of 1001", `[${Array(1001).fill(1).join(",")}]`, -32600],
    ["another version", '{"jsonrpc":"1.0","id":1,"method":"eth_chainId"}', -32600],
    ["no method", '{"jsonrpc":"2.0","id":1}', -32600],
    ["params that are not a list", call("eth_chainId", { a: 1 }), -32602],
  ])("answers %s with the error of JSON-RPC", async (_, body, code) => {
    expect(await (await post(body)).json()).toMatchObject({ jsonrpc: "2.0", error: { code } });
  });

  it("carries out a notification without an answer", async () => {
    const account = await fundedAccount(devnet());
    const raw = await sign(account, { nonce: 0 });
    const response = await post(
      JSON.stringify({ jsonrpc: "2.0", method: "eth_sendRawTransaction", params: [raw] }),
    );
    expect([response.status, await response.text()]).toEqual([204, ""]);
    expect((await devnet().control("devnet_status", {})).pooled).toBe(1);
  });

  it("refuses bodies that are too large, other methods and what a browser's page could send", async () => {
    expect((await post(`"${"x".repeat(5 * 1024 * 1024)}"`)).status).toBe(413);
    expect((await fetch(devnet().url)).status).toBe(405);
    expect((await post(call("eth_chainId"), { "content-type": "text/plain" })).status).toBe(415);
    expect((await post(call("eth_chainId"), {}, "/third")).status).toBe(404);
  });

  it.each(["evm_mine", "evm_revert", "hardhat_setBalance", "eth_sendTransaction", "eth_newFilter"])(
    "refuses %s, which would pass by the journal or needs state for each client",
    async (method) => {
      await expect(devnet().request(method)).rejects.toMatchObject({ code: -32601 });
    },
  );

  it("refuses a control with wrong parameters and names the field", async () => {
    await expect(devnet().request("devnet_mine", [{ blocks: 0 }])).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining("/blocks"),
    });
    await expect(devnet().request("devnet_mine", [{ block: 1 }])).rejects.toMatchObject({ code: -32602 });
  });

  it("serves eth_getBlockReceipts, which the EVM lacks", async () => {
    const account = await fundedAccount(devnet());
    const hashes: `0x${string}`[] = [];
    for (const nonce of [0, 1, 2]) hashes.push(await send(devnet(), await sign(account, { nonce })));
    const [block] = await devnet().control("devnet_mine", {});
    const reader = readerOf(devnet().url);
    const single = await Promise.all(
      hashes.map((hash) => devnet().request("eth_getTransactionReceipt", [hash])),
    );
    for (const named of [
      "latest",
      `0x${block?.number.toString(16)}`,
      block?.hash,
      { blockHash: block?.hash },
    ]) {
      const receipts = (await devnet().request("eth_getBlockReceipts", [named])) as unknown[];
      expect(receipts.slice(-3)).toEqual(single);
    }
    expect(await devnet().request("eth_getBlockReceipts", [`0x${"1".repeat(64)}`])).toBeNull();
    expect(await reader.getTransactionReceipt({ hash: hashes[0] ?? "0x" })).toMatchObject({
      status: "success",
    });
  });
});
