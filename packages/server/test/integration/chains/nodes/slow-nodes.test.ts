import { describe, expect, it, onTestFinished } from "vitest";
import { createEvmNode } from "../../../../src/rails/evm/node/evm-node.js";
import { createRpcEndpoint } from "../../../../src/rails/evm/rpc/rpc-endpoint.js";
import { nodeTimers } from "../../../../src/runtime/loops/timers.js";
import { resultsOf, startHostileNode } from "../../../harness/chain/hostile-node.js";

const shortTimeoutMs = 300;
const token = { asset: "USDC", contract: `0x${"c".repeat(40)}`, decimals: 6 };
const watch = {
  tokens: [token],
  findOwned: async () => new Set<string>(),
  findAttempts: async () => new Set<string>(),
};

function openNode(url: string, timeoutMs = shortTimeoutMs) {
  const node = createEvmNode({
    network: {
      ...{ network: "eip155:1", chainId: 1, rpcUrls: [url], finality: { depth: 4 }, tokens: [token] },
      ...{ hasDataFee: false, hasPool: true, feeCap: 10n ** 12n, minimumTip: 1n, tipMax: 10n ** 9n },
    },
    ...{ timers: nodeTimers, monotonicMs: () => performance.now(), random: () => 0, timeoutMs },
  });
  onTestFinished(node.close);
  return node;
}

const hashOf = (number: number) => `0x${number.toString(16).padStart(64, "0")}`;

function blockOf(named: string) {
  const number = Number(named);
  const header = { number: named, hash: hashOf(number), parentHash: hashOf(number - 1), timestamp: named };
  return { ...header, logsBloom: `0x${"0".repeat(512)}`, transactions: [] };
}

/** What each step of a driver does after a restart, until it succeeds. */
async function stepsToRead(node: ReturnType<typeof openNode>): Promise<number> {
  for (let steps = 1; steps <= 8; steps++) {
    const blocks = await node.finalBlocks(1, 32, watch).catch(() => undefined);
    if (blocks !== undefined) {
      expect(blocks.map(({ number }) => number)).toEqual(Array.from({ length: 32 }, (_, at) => at + 1));
      return steps;
    }
  }
  throw new Error("the same blocks are asked for without end");
}

describe("a node that needs longer than the timeout", () => {
  it("for 32 whole blocks in one request gives them in smaller ones", async () => {
    const node = await startHostileNode((calls, reply) => {
      const results = resultsOf(calls, ({ method, params }) =>
        method === "eth_getLogs" ? [] : blockOf(String(params[0])),
      );
      setTimeout(() => reply(results), calls.length * 15);
    });
    const evm = openNode(node.url);
    expect(await stepsToRead(evm)).toBeLessThan(4);
    const before = node.requests.length;
    expect(await stepsToRead(evm)).toBe(1);
    const sizes = node.requests.slice(before).map(({ length }) => length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(16);
  });

  it("for the logs of 32 blocks gives them in smaller ranges, and in larger ones when it can again", async () => {
    let slowFrom = 12;
    const sizes: number[] = [];
    const node = await startHostileNode((calls, reply) => {
      const [{ method, params }] = calls as [(typeof calls)[number]];
      if (method !== "eth_getLogs") return reply(resultsOf(calls, (call) => blockOf(String(call.params[0]))));
      const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string };
      const size = Number(toBlock) - Number(fromBlock) + 1;
      sizes.push(size);
      if (size < slowFrom) reply(resultsOf(calls, () => []));
    });
    const evm = openNode(node.url);
    expect(await stepsToRead(evm)).toBeLessThan(4);
    slowFrom = 1000;
    for (let reads = 0; reads < 20; reads++) await evm.finalBlocks(1, 32, watch);
    expect(sizes.at(-1)).toBe(32);
  });

  it("for an estimate in a group has the usual time for one alone, and does not pause", async () => {
    const answers: Record<string, unknown> = { eth_estimateGas: "0x5208", eth_chainId: "0x1" };
    const node = await startHostileNode((calls, reply) => {
      const isSlow = calls.some(({ method }) => method === "eth_estimateGas");
      const results = resultsOf(calls, ({ method, params }) => answers[method] ?? blockOf(String(params[0])));
      setTimeout(() => reply(results), isSlow ? 3300 : 0);
    });
    const evm = openNode(node.url, 10_000);
    const draft = { from: `0x${"a".repeat(40)}`, contract: null, destination: `0x${"b".repeat(40)}` };
    const drafts = [{ ...draft, amount: 1n }];
    expect(await evm.estimate(drafts, "brief")).toEqual([{ refused: "UNAVAILABLE" }]);
    expect(await evm.estimate(drafts)).toEqual([{ gasLimit: 21_000n, dataFee: 0n }]);
    const impatient = openNode(node.url, 1000);
    expect(await impatient.estimate(drafts)).toEqual([{ refused: "UNAVAILABLE" }]);
    const beganMs = performance.now();
    expect(await impatient.header(16)).toMatchObject({ number: 16 });
    expect(performance.now() - beganMs).toBeLessThan(250);
  });

  it("is asked for no more than before only after some time, and not for smaller batches because of a contract", async () => {
    let nowMs = 0;
    let slowFrom = 50;
    const node = await startHostileNode((calls, reply) => {
      if (calls.length < slowFrom) reply(resultsOf(calls, () => "0x1"));
    });
    const endpoint = createRpcEndpoint({
      ...{
        name: "Node 1",
        url: node.url,
        timeoutMs: shortTimeoutMs,
        timers: nodeTimers,
        monotonicMs: () => nowMs,
        random: () => 0,
      },
    });
    onTestFinished(endpoint.close);
    const callsOf = (count: number) =>
      Array.from({ length: count }, () => ({ method: "eth_call", params: [] }));
    const largest = async (count: number, manner?: "brief") => {
      const before = node.requests.length;
      await endpoint.call(callsOf(count), manner);
      nowMs += 1000;
      return Math.max(...node.requests.slice(before).map(({ length }) => length));
    };
    await endpoint.call(callsOf(60), "brief");
    expect(await largest(60)).toBe(60);
    expect(await largest(30)).toBe(30);
    expect(await largest(30)).toBe(30);
    nowMs += 60_000;
    slowFrom = 1000;
    await largest(30);
    expect(await largest(60)).toBe(31);
  });
});
