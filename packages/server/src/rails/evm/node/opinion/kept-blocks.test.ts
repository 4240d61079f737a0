import { describe, expect, it } from "vitest";
import { NodesDisagreeError } from "../../../../app/chain/chain-node.js";
import type { RpcCall, RpcEndpoint } from "../../rpc/rpc-endpoint.js";
import { createRpcPool } from "../../rpc/rpc-pool.js";
import { indexTokens } from "../transfer-logs.js";
import { createHeads } from "../watch/heads.js";
import { createSecondOpinion } from "./second-opinion.js";

const quantity = (number: number) => `0x${number.toString(16)}`;
const wordOf = (number: number) => `0x${number.toString(16).padStart(64, "0")}`;
const transactionOf = (number: number) => wordOf(1_000_000 + number);
const own = `0x${"a".repeat(40)}`;
const other = `0x${"b".repeat(40)}`;
const tokens = indexTokens([{ asset: "ETH", contract: null }]);
const firstFinal = 100;

interface Nodes {
  finalNumber: number;
  nowMs: number;
  /** How long the slowest node takes for each request. */
  slowMs: number;
  /** What a node says instead; undefined if it is as the others. */
  lie: (node: string, call: RpcCall) => unknown;
}

/** Nodes of a chain in which each block has a deposit, of 5 base units. */
function openHeads(given: Partial<Nodes> = {}, names = ["one", "two", "slow"]) {
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
  const opinion = createSecondOpinion(pool, monotonicMs);

  const settings = { network: "eip155:1", chainId: 1, finality: { tag: "finalized" } } as const;
  const heads = createHeads({ ...settings, pool, monotonicMs, opinion, lagging: { see: () => undefined } });
  const blockOf = (number: number, amount: bigint, hash = wordOf(number), copies = 1) => {
    const transfer = { hash: transactionOf(number), ordinal: 0, asset: "ETH", from: other, to: own, amount };
    const header = { number, hash, parentHash: wordOf(number - 1) };
    return { ...header, timeMs: 0, baseFee: 1n, outcomes: [], transfers: Array(copies).fill(transfer) };
  };
  const remember = (number: number, amount = 5n, hash = wordOf(number), copies = 1) =>
    opinion.remember(blockOf(number, amount, hash, copies), tokens);
  const confirmFinal = (number: number, amount: bigint) =>
    opinion.confirmFinal([blockOf(number, amount)], tokens);
  /** Blocks are read from the newest one back, and then finality goes to the last of them. */
  const jump = async (blocks: number) => {
    await heads.read();
    for (let number = firstFinal + blocks; number > firstFinal; number--) remember(number);
    nodes.finalNumber = firstFinal + blocks;
  };
  /** The final block, or why the network halts. */
  const final = async () => {
    const read = await heads.read();
    return "halt" in read ? read.halt : read.final.number;
  };
  const misreads = () => opinion.misreads();
  return { confirmFinal, odd, misreads, nodes, jump, final, remember };
}

describe("blocks that are confirmed when they are final", () => {
  it.each([
    [32, 150],
    [192, 1000],
    [192, 3000],
    [400, 9000],
  ])("are so in steps that end in time: %i blocks with a node that takes %i ms", async (blocks, slowMs) => {
    const { nodes, jump, final } = openHeads({ slowMs });
    await jump(blocks);
    let reached: number | string = firstFinal;
    for (let steps = 0; reached !== firstFinal + blocks; steps++) {
      const beganMs = nodes.nowMs;
      const before = reached;
      reached = await final();
      expect(nodes.nowMs - beganMs).toBeLessThan(60_000);
      expect(Number(reached)).toBeGreaterThan(Number(before));
      expect(steps).toBeLessThan(20);
    }
  });

  it("are few requests, however many blocks there are", async () => {
    const { nodes, jump, final } = openHeads({ slowMs: 1 });
    await jump(192);
    const beganMs = nodes.nowMs;
    expect(await final()).toBe(292);
    expect(nodes.nowMs - beganMs).toBeLessThan(12);
  });

  it("end where nodes lack different transactions only if those are asked for alone", async () => {
    const lacked = new Map([
      ["one", transactionOf(110)],
      ["two", transactionOf(130)],
      ["slow", transactionOf(131)],
    ]);
    const isLacked = (name: string, { params }: RpcCall) => params[0] === lacked.get(name);
    const { jump, final } = openHeads({ lie: (name, call) => (isLacked(name, call) ? null : undefined) });
    await jump(32);
    expect(await final()).toBe(132);
  });

  it("wait for a transaction that only one node has, together with what follows", async () => {
    const lacking = new Set(["one", "two"]);
    const { nodes, jump, final } = openHeads({
      lie: (name, { params }) => (lacking.has(name) && params[0] === transactionOf(120) ? null : undefined),
    });
    await jump(32);
    expect(await final()).toBe(119);
    expect(await final()).toBe(119);
    lacking.clear();
    expect(await final()).toBe(132);
    expect(nodes.finalNumber).toBe(132);
  });

  it("halt the network if one of two nodes contradicts the other, and nothing after them is final", async () => {
    const says6 = ({ method, params }: RpcCall) =>
      method === "eth_getTransactionByHash" && params[0] === transactionOf(120)
        ? { hash: params[0], blockHash: wordOf(120), from: other, to: own, value: "0x6" }
        : undefined;
    const lie: Nodes["lie"] = (name, call) => (name === "one" ? says6(call) : undefined);
    const { jump, final, remember } = openHeads({ lie }, ["one", "two"]);
    await jump(32);
    remember(120, 6n);
    expect(await final()).toContain(`disagree about transaction ${transactionOf(120)}`);
    // The block that was misread is read again; the others are still to be confirmed.
    expect(await final()).toBe(132);
  });

  it("wait if one of two contradicts the other about a block that is read when it is final, and the next heads halt", async () => {
    const { nodes, confirmFinal, final } = openHeads({}, ["one", "two"]);
    await confirmFinal(99, 5n);
    expect(await final()).toBe(firstFinal);
    nodes.lie = (name, { method, params }) =>
      name === "one" && method === "eth_getTransactionByHash"
        ? { hash: params[0], blockHash: wordOf(99), from: other, to: own, value: "0x6" }
        : undefined;
    await expect(confirmFinal(99, 5n)).rejects.toThrow(NodesDisagreeError);
    expect(await final()).toContain(`disagree about transaction ${transactionOf(99)}`);
  });

  it("are all read again if the larger group contradicts what was read from one", async () => {
    const { jump, final, remember, misreads } = openHeads();
    await jump(32);
    remember(120, 6n);
    expect(await final()).toBe(firstFinal);
    expect(misreads()).toBe(1);
    expect(await final()).toBe(132);
    expect(misreads()).toBe(1);
  });

  it("do not wait for one of three nodes that contradicts the others, which is named", async () => {
    const { jump, final, odd } = openHeads({
      lie: (name, { method, params }) =>
        name === "one" && method === "eth_getTransactionByHash" && params[0] === transactionOf(120)
          ? { hash: params[0], blockHash: wordOf(120), from: other, to: own, value: "0x6" }
          : undefined,
    });
    await jump(32);
    expect(await final()).toBe(132);
    expect(new Set(odd)).toEqual(new Set(["one"]));
  });

  it("do not wait for a block that one of three nodes has in the place of the one that the others have", async () => {
    const fork = `0x${"f".repeat(64)}`;
    const { jump, final, odd, remember } = openHeads({
      lie: (name, { method, params }) =>
        name === "one" && method === "eth_getBlockByNumber" && params[0] === quantity(120)
          ? { number: quantity(120), hash: fork, parentHash: wordOf(119), timestamp: "0x1" }
          : undefined,
    });
    await jump(32);
    remember(120, 5n, fork);
    expect(await final()).toBe(132);
    expect(new Set(odd)).toEqual(new Set(["one"]));
  });

  it("are all read again if more transfers are kept than may be, in many blocks or in few", async () => {
    for (const [blocks, copies] of [
      [2001, 100],
      [2, 100_001],
    ] as const) {
      const { final, remember, misreads } = openHeads();
      for (let number = 1; number <= blocks; number++) remember(1_000_000 + number, 5n, undefined, copies);
      expect(misreads()).toBe(1);
      expect(await final()).toBe(firstFinal);
    }
  });

  it("do not count if they were left, also beside the one that took their place", async () => {
    const { nodes, jump, final } = openHeads();
    await jump(8);
    nodes.lie = (_, { method, params }) =>
      method === "eth_getBlockByNumber" && params[0] === quantity(104)
        ? { number: quantity(104), hash: wordOf(9), parentHash: wordOf(103), timestamp: "0x1" }
        : params[0] === transactionOf(104)
          ? null
          : undefined;
    expect(await final()).toBe(108);
  });
});
