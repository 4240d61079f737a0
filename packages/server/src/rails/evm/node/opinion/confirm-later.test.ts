import { expect, it } from "vitest";
import type { Watch } from "../../../../app/chain/chain-node.js";
import type { RpcCall, RpcEndpoint } from "../../rpc/rpc-endpoint.js";
import { createEvmNode } from "../evm-node.js";

const quantity = (number: number) => `0x${number.toString(16)}`;
const wordOf = (number: number) => `0x${number.toString(16).padStart(64, "0")}`;
const own = `0x${"a".repeat(40)}`;
const transaction = { hash: wordOf(9101), from: `0x${"b".repeat(40)}`, to: own, value: "0x5" };
const forged = { ...transaction, value: "0x500000" };
const watch: Watch = {
  tokens: [{ asset: "ETH", contract: null }],
  findOwned: async (addresses) => new Set(addresses.filter((address) => address === own)),
  findAttempts: async () => new Set(),
};

/** Three nodes, of which the first gives what is in block 101 as the test says. */
function openNodes() {
  const nodes = { finalNumber: 100, first: async () => transaction };
  const headerOf = (number: number) => ({
    ...{ number: quantity(number), hash: wordOf(number), parentHash: wordOf(number - 1) },
    ...{ timestamp: quantity(number), baseFeePerGas: "0x1" },
  });
  const answer = async (name: string, { method, params }: RpcCall): Promise<unknown> => {
    const [named] = params as [string];
    const blockHash = wordOf(101);
    if (method === "eth_chainId") return "0x1";
    if (method === "eth_getBlockByNumber")
      return headerOf(named === "latest" ? 110 : named === "finalized" ? nodes.finalNumber : Number(named));
    if (method === "eth_getBlockByHash") {
      const transactions = [name === "first" ? await nodes.first() : transaction];
      return { ...headerOf(101), logsBloom: `0x${"0".repeat(512)}`, transactions };
    }
    if (method === "eth_getTransactionByHash") return { ...transaction, blockHash };
    const gas = { gasUsed: "0x5208", effectiveGasPrice: "0x1" };
    return { ...{ status: "0x1", blockHash, transactionHash: named, logs: [] }, ...gas };
  };
  const endpoints = ["first", "second", "third"].map(
    (name): RpcEndpoint => ({
      name,
      call: (calls) => Promise.all(calls.map(async (call) => ({ result: await answer(name, call) }))),
      pauseMs: () => 0,
      close: async () => undefined,
    }),
  );
  const node = createEvmNode({
    network: {
      ...{ network: "eip155:1", chainId: 1, rpcUrls: [], finality: { tag: "finalized" }, tokens: [] },
      ...{ hasDataFee: false, hasPool: true, feeCap: 1000n, minimumTip: 1n, tipMax: 10n },
    },
    ...{ endpoints, timers: { after: () => () => undefined }, monotonicMs: () => 0, random: () => 0 },
  });
  /** The final block, and how often blocks were misread. */
  const look = async () => {
    const heads = await node.heads();
    return "halt" in heads ? heads.halt : [heads.final.number, heads.misreads];
  };
  return { nodes, node, look };
}

it("confirms what is written of a block, and not what was read of it later or in the background", async () => {
  const { nodes, node, look } = openNodes();
  expect(await look()).toEqual([100, 0]);
  let answerLate: (answer: typeof transaction) => void = () => undefined;
  const late = new Promise<typeof transaction>((resolve) => {
    answerLate = resolve;
  });
  nodes.first = () => {
    nodes.first = async () => forged;
    return late;
  };
  const background = node.block(wordOf(101), watch);
  const written = await node.block(wordOf(101), watch);
  if (written === undefined) throw new Error("the block is not there");
  expect(written.transfers[0]?.amount).toBe(0x500000n);
  node.confirmLater([written], watch.tokens);
  answerLate(transaction);
  expect((await background)?.transfers[0]?.amount).toBe(5n);
  nodes.finalNumber = 101;
  expect(await look()).toEqual([100, 1]);
});

it("asks nobody about what was read and not written", async () => {
  const { nodes, node, look } = openNodes();
  nodes.first = async () => forged;
  await node.block(wordOf(101), watch);
  nodes.finalNumber = 101;
  expect(await look()).toEqual([101, 0]);
});
