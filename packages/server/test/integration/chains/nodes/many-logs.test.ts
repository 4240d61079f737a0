import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { createRpcEndpoint } from "../../../../src/rails/evm/rpc/rpc-endpoint.js";
import { nodeTimers } from "../../../../src/runtime/loops/timers.js";
import {
  closeNodes,
  devnetTokens,
  fundedAccount,
  newAddress,
  openNode,
  sendRaw,
  signPayment,
  useDevnet,
  watchFor,
} from "../../../harness/chain/devnet.js";
import { startHostileNode } from "../../../harness/chain/hostile-node.js";
import { startLyingNode } from "../../../harness/chain/lying-proxy.js";

const devnet = useDevnet();
afterAll(closeNodes);

const usdc = devnetTokens[0] as (typeof devnetTokens)[number];
const mebibyte = 1024 * 1024;

/** Emits logs without topics and data until it has less gas than this. */
const logsUntil = (gas: number) => `5b5f5fa05a62${gas.toString(16).padStart(6, "0")}105f57`;

type Account = Awaited<ReturnType<typeof fundedAccount>>;

/** A transaction that runs this code and creates nothing. Its account has sent none before. */
async function run(account: Account, code: string, gas: bigint): Promise<string> {
  const raw = await account.signTransaction({
    ...{ type: "eip1559", chainId: 31_337, nonce: 0, gas, data: `0x${code}` },
    ...{ maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 9n },
  });
  return await sendRaw(devnet(), raw);
}

/** A contract that emits logs for almost all gas that it is called with. */
async function deploySpammer(): Promise<string> {
  const code = `${logsUntil(20_000)}00`;
  const length = (code.length / 2).toString(16).padStart(2, "0");
  const hash = await run(await fundedAccount(devnet()), `60${length}8060095f395ff3${code}`, 1_000_000n);
  await devnet().control("devnet_mine", {});
  const receipt = await devnet().request("eth_getTransactionReceipt", [hash]);
  return (receipt as { contractAddress: string }).contractAddress;
}

/** Emits logs, and then sends an amount of the token that the transaction's contract has to an address. */
async function spamAndPay(to: string, amount: bigint, gas: bigint): Promise<string> {
  const account = await fundedAccount(devnet());
  const { getContractAddress } = await import("viem");
  const address = getContractAddress({ from: account.address, nonce: 0n });
  await devnet().control("devnet_fund", { address, amount: amount.toString(), asset: "USDC" });
  await devnet().control("devnet_mine", {});
  const word = (hex: string) => hex.replace("0x", "").padStart(64, "0");
  const call = `a9059cbb${word(to)}${word(amount.toString(16))}`;
  const begin = logsUntil(200_000);
  const end = `5f5f60445f5f73${usdc.contract.slice(2)}5af100`;
  const offset = begin.length / 2 + 6 + end.length / 2;
  return await run(account, `${begin}604460${offset.toString(16)}5f39${end}${call}`, gas);
}

const mine = async (blocks: number) => {
  const mined = await devnet().control("devnet_mine", { blocks });
  return mined[0] as { number: number; hash: string };
};

/** Nodes that read at most so many bytes of an answer, without the logs that nobody needs. */
function openBounded(urls: readonly string[], answerBytesMax: number) {
  const monotonicMs = () => performance.now();
  const endpoints = urls.map((url, index) =>
    createRpcEndpoint({
      name: `Node ${index + 1}`,
      url,
      timers: nodeTimers,
      monotonicMs,
      random: () => 0,
      answerBytesMax,
    }),
  );
  const node = openNode(devnet(), { rpcUrls: urls }, { endpoints });
  onTestFinished(node.close);
  return node;
}

describe("a receipt with more logs than a megabyte of them", () => {
  it("of a payment is read, and confirmed by two nodes", async () => {
    const spammer = await deploySpammer();
    const account = await fundedAccount(devnet());
    const raw = await signPayment(account, { nonce: 0, to: spammer, value: 0n, gas: 3_000_000n });
    const hash = await sendRaw(devnet(), raw);
    const block = await mine(4);
    const receipt = await devnet().request("eth_getTransactionReceipt", [hash]);
    expect(JSON.stringify(receipt).length).toBeGreaterThan(2 * mebibyte);
    const node = openNode(devnet());
    const watch = watchFor([], [hash]);
    const read = await node.block(block.hash, watch);
    expect(read?.outcomes).toMatchObject([{ hash, success: true, transfers: [] }]);
    expect(await node.finalBlocks(block.number, block.number, watch)).toEqual([read]);
  });

  it("of a deposit by an outsider is read and confirmed, and does not stop finality", async () => {
    const ours = newAddress();
    const node = openNode(devnet());
    await node.heads();
    const hash = await spamAndPay(ours, 9n, 3_000_000n);
    const block = await mine(1);
    const watch = watchFor([ours]);
    const read = await node.block(block.hash, watch);
    if (read === undefined) throw new Error("no block");
    const receipt = await devnet().request("eth_getTransactionReceipt", [hash]);
    expect(JSON.stringify(receipt).length).toBeGreaterThan(2 * mebibyte);
    expect(read.transfers).toMatchObject([{ hash, asset: "USDC", to: ours, amount: 9n }]);
    node.confirmLater([read], watch.tokens);
    await mine(4);
    expect(await node.heads()).toMatchObject({ final: { number: block.number + 1 }, misreads: 0 });
  });
});

describe("a receipt that is too large for every bound", () => {
  const bytesMax = 128 * 1024;
  const urls = () => [devnet().url, devnet().secondUrl];

  it("of a payment is an outcome that nobody knows, and the rest of the block is read and final", async () => {
    const spammer = await deploySpammer();
    const account = await fundedAccount(devnet());
    const ours = newAddress();
    const raw = await signPayment(account, { nonce: 0, to: spammer, value: 0n, gas: 3_000_000n });
    const hash = await sendRaw(devnet(), raw);
    const paid = await devnet().control("devnet_fund", { address: ours, amount: "5", asset: "USDC" });
    const block = await mine(4);
    const node = openBounded(urls(), bytesMax);
    const watch = watchFor([ours], [hash]);
    const read = await node.block(block.hash, watch);
    expect(read?.outcomes).toMatchObject([{ hash, unreadable: expect.stringContaining("too large") }]);
    expect(read?.transfers).toMatchObject([{ hash: paid, amount: 5n }]);
    expect(await node.finalBlocks(block.number, block.number, watch)).toEqual([read]);
  });

  it("of a deposit of a token is confirmed by the logs of its block", async () => {
    const ours = newAddress();
    const hash = await spamAndPay(ours, 9n, 3_000_000n);
    const block = await mine(4);
    const node = openBounded(urls(), bytesMax);
    const [read] = await node.finalBlocks(block.number, block.number, watchFor([ours]));
    expect(read?.transfers).toMatchObject([{ hash, asset: "USDC", to: ours, amount: 9n }]);
  });

  it("of one node alone is given up: the payment is an outcome that nobody knows", async () => {
    const account = await fundedAccount(devnet());
    const hash = await sendRaw(devnet(), await signPayment(account, { nonce: 0, to: newAddress() }));
    const block = await mine(4);
    const refusing = await startHostileNode((calls, reply) => {
      const answers = calls.map(async ({ id, method, params }) =>
        method === "eth_getTransactionReceipt"
          ? { jsonrpc: "2.0", id, error: { code: -32_008, message: "Response is too big" } }
          : { jsonrpc: "2.0", id, result: await devnet().request(method, params) },
      );
      void Promise.all(answers).then((all) => reply(all.length === 1 ? all[0] : all));
    });
    const node = openBounded([devnet().url, refusing.url], bytesMax);
    const watch = watchFor([], [hash]);
    const read = () => node.finalBlocks(block.number, block.number, watch);
    await expect(read()).rejects.toThrow(/too large for all nodes but one. The block is read again/);
    expect(await read()).toMatchObject([{ outcomes: [{ hash, unreadable: expect.any(String) }] }]);
  });
});

it("a block that is too large with the inputs of its transactions is read without them", async () => {
  const ours = newAddress();
  const account = await fundedAccount(devnet());
  const raw = await account.signTransaction({
    ...{ type: "eip1559", chainId: 31_337, nonce: 0, to: newAddress(), gas: 2_000_000n },
    ...{ data: `0x${"00".repeat(100_000)}`, maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 9n },
  });
  await sendRaw(devnet(), raw);
  for (const asset of ["ETH", "USDC"] as const)
    await devnet().control("devnet_fund", { address: ours, amount: "5", asset });
  const block = await mine(4);
  const shown = await devnet().request("eth_getBlockByHash", [block.hash, true]);
  const bytesMax = 128 * 1024;
  expect(JSON.stringify(shown).length).toBeGreaterThan(bytesMax);
  const node = openBounded([devnet().url, devnet().secondUrl], bytesMax);
  const read = await node.block(block.hash, watchFor([ours]));
  expect(read?.transfers).toMatchObject([{ asset: "ETH" }, { asset: "USDC" }]);
  expect(await node.finalBlocks(block.number, block.number, watchFor([ours]))).toEqual([read]);
});

it("headers of blocks with 20,000 transactions are read without their hashes", async () => {
  const hashes = Array.from({ length: 20_000 }, (_, index) => `0x${index.toString(16).padStart(64, "0")}`);
  const many = await startLyingNode(devnet(), (method, [, isWhole], result) =>
    method.startsWith("eth_getBlockBy") && isWhole === false && result !== null
      ? { ...(result as object), transactions: hashes }
      : result,
  );
  const block = await mine(4);
  const node = openNode(devnet(), { rpcUrls: [many.url, many.url] });
  expect(await node.heads()).toMatchObject({ final: { number: expect.any(Number) } });
  expect(await node.finalHeaders([block.number])).toMatchObject([{ hash: block.hash }]);
  expect(await node.noncesAt([newAddress()], block)).toEqual([0]);
});

it("receipts of a block that are too many together are read one by one", async () => {
  const spammers = [await deploySpammer(), await deploySpammer()];
  for (const to of spammers) {
    const account = await fundedAccount(devnet());
    await sendRaw(devnet(), await signPayment(account, { nonce: 0, to, gas: 3_000_000n }));
  }
  const ours = newAddress();
  for (let amount = 1; amount <= 10; amount++)
    await devnet().control("devnet_fund", { address: ours, amount: `${amount}`, asset: "ETH" });
  const block = await mine(4);
  const node = openBounded([devnet().url, devnet().secondUrl], 512 * 1024);
  const [read] = await node.finalBlocks(block.number, block.number, watchFor([ours]));
  expect(read?.transfers).toHaveLength(10);
});

it("a batch that a node has too little room for is asked for in smaller ones", async () => {
  const node = await startHostileNode((calls, reply) => {
    const answers = calls.map(({ id }, index) =>
      index === 0 || calls.length <= 2
        ? { jsonrpc: "2.0", id, result: { logs: [] } }
        : { jsonrpc: "2.0", id, error: { code: -32_003, message: "response too large" } },
    );
    reply(answers.length === 1 ? answers[0] : answers);
  });
  const endpoint = createRpcEndpoint({
    ...{ name: "Node 1", url: node.url, timers: nodeTimers, random: () => 0 },
    monotonicMs: () => performance.now(),
  });
  onTestFinished(endpoint.close);
  const calls = Array.from({ length: 8 }, () => ({ method: "eth_getTransactionReceipt", params: [] }));
  expect(await endpoint.call(calls)).toEqual(calls.map(() => ({ result: { logs: [] } })));
});
