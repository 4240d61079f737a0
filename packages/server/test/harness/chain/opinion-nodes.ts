import { createSecondOpinion } from "../../../src/rails/evm/node/opinion/second-opinion.js";
import { indexTokens } from "../../../src/rails/evm/node/transfer-logs.js";
import { createHeads } from "../../../src/rails/evm/node/watch/heads.js";
import type { RpcCall, RpcEndpoint } from "../../../src/rails/evm/rpc/rpc-endpoint.js";
import { createRpcPool } from "../../../src/rails/evm/rpc/rpc-pool.js";

export const quantity = (number: number) => `0x${number.toString(16)}`;
export const wordOf = (number: number) => `0x${number.toString(16).padStart(64, "0")}`;
export const transactionOf = (number: number) => wordOf(1_000_000 + number);
export const own = `0x${"a".repeat(40)}`;
export const other = `0x${"b".repeat(40)}`;
const tokens = indexTokens([{ asset: "ETH", contract: null }]);
export const firstFinal = 100;

export interface Nodes {
  finalNumber: number;
  nowMs: number;
  /** How long the slowest node takes for each request. */
  slowMs: number;
  /** What a node says instead; undefined if it is as the others. */
  lie: (node: string, call: RpcCall) => unknown;
}

/** Nodes of a chain in which each block has a deposit, of 5 base units. */
export function openHeads(given: Partial<Nodes> = {}, names = ["one", "two", "slow"]) {
  const nodes: Nodes = {
    ...{ finalNumber: firstFinal, nowMs: 0, slowMs: 0, lie: () => undefined },
    ...given,
  };
  const headerOf = (number: number) => ({
    ...{ number: quantity(number), hash: wordOf(number), parentHash: wordOf(number - 1) },
    ...{ timestamp: quantity(number), baseFeePerGas: "0x1" },
  });
  const answer = ({ method, params }: RpcCall): unknown => {
    if (method === "eth_chainId") return "0x1";
    const [named] = params as [string];
    if (method === "eth_getBlockByNumber")
      return headerOf(named === "latest" ? 1000 : named === "finalized" ? nodes.finalNumber : Number(named));
    if (method === "eth_getBlockByHash") return { hash: named, transactions: [transactionOf(Number(named))] };
    const blockHash = wordOf(Number(named) - 1_000_000);
    if (method === "eth_getTransactionReceipt")
      return {
        ...{ status: "0x1", blockHash, transactionHash: named, logs: [] },
        ...{ gasUsed: "0x5208", effectiveGasPrice: "0x1" },
      };
    return { hash: named, blockHash, from: other, to: own, value: "0x5" };
  };
  const endpoint = (name: string): RpcEndpoint => ({
    name,
    call: async (calls) => {
      if (name === "slow") nodes.nowMs += nodes.slowMs;
      return calls.map((call) => {
        const lie = nodes.lie(name, call);
        return { result: lie === undefined ? answer(call) : lie };
      });
    },
    pauseMs: () => 0,
    close: async () => undefined,
  });
  const monotonicMs = () => nodes.nowMs;
  const endpoints = names.map(endpoint);
  const odd: string[] = [];
  const pool = createRpcPool({
    ...{ network: "eip155:1", endpoints, monotonicMs },
    timers: { after: () => () => undefined },
    seeOdd: (seen) => void odd.push(...seen),
  });
  const opinion = createSecondOpinion(pool, monotonicMs, () => false);

  const settings = { network: "eip155:1", chainId: 1, finality: { tag: "finalized" } } as const;
  const heads = createHeads({ ...settings, pool, monotonicMs, opinion, lagging: { see: () => undefined } });
  const blockOf = (number: number, amount: bigint, hash = wordOf(number), copies = 1) => {
    const transfer = { hash: transactionOf(number), ordinal: 0, asset: "ETH", from: other, to: own, amount };
    const header = { number, hash, parentHash: wordOf(number - 1) };
    return { ...header, timeMs: 0, baseFee: 1n, outcomes: [], transfers: Array(copies).fill(transfer) };
  };
  const remember = (number: number, amount = 5n, hash = wordOf(number), copies = 1) =>
    opinion.remember(blockOf(number, amount, hash, copies), tokens);
  /** A node has shown a transaction in a block that is in another one, or in none. */
  const rememberInvented = (number: number, hash: string) => {
    const block = blockOf(number, 5n);
    const invented = { ...block.transfers[0], hash };
    opinion.remember({ ...block, transfers: [...block.transfers, invented] }, tokens);
  };
  const confirmFinal = (number: number, amount: bigint) =>
    opinion.confirmFinal([blockOf(number, amount)], tokens);
  /** Blocks are read from the newest one back, and then finality goes to the last of them. */
  const jump = async (blocks: number) => {
    await heads.read();
    for (let number = firstFinal + blocks; number > firstFinal; number--) remember(number);
    nodes.finalNumber = firstFinal + blocks;
  };
  /** The final block, or why the network halts. */
  const final = async (settledNumber?: number) => {
    const read = await heads.read(settledNumber);
    return "halt" in read ? read.halt : read.final.number;
  };
  const { misreads, isToConfirm, isDisputed, waitsFor } = opinion;
  return {
    confirmFinal,
    rememberInvented,
    odd,
    misreads,
    isToConfirm,
    isDisputed,
    waitsFor,
    nodes,
    jump,
    final,
    remember,
  };
}
