import { describe, expect, it, onTestFinished } from "vitest";
import { createEvmNode } from "../../../../src/rails/evm/node/evm-node.js";
import { createRpcEndpoint } from "../../../../src/rails/evm/rpc/rpc-endpoint.js";
import { nodeTimers } from "../../../../src/runtime/loops/timers.js";
import { resultsOf, startHostileNode } from "../../../harness/chain/hostile-node.js";

const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ method: "eth_call", params: [index] }));
const ownParam = ({ params }: { params: readonly unknown[] }) => params[0];
const resultsFor = (count: number) => numbered(count).map((_, result) => ({ result }));

function openEndpoint(url: string, given: { monotonicMs?: () => number } = {}) {
  const monotonicMs = () => performance.now();
  const endpoint = createRpcEndpoint({
    ...{ name: "Node 1", url, timers: nodeTimers, random: () => 0, monotonicMs, ...given },
  });
  onTestFinished(endpoint.close);
  return endpoint;
}

function openNode(...rpcUrls: string[]) {
  const node = createEvmNode({
    network: {
      ...{ network: "eip155:1", chainId: 1, rpcUrls, finality: { tag: "finalized" }, tokens: [] },
      ...{ hasDataFee: false, hasPool: true, feeCap: 10n ** 12n, minimumTip: 1n, tipMax: 10n ** 9n },
    },
    ...{ timers: nodeTimers, monotonicMs: () => performance.now(), random: () => 0 },
  });
  onTestFinished(node.close);
  return node;
}

const free =
  "Batch of more than 3 requests are not allowed on free tier, to use this feature register paid account";
type Refusal = readonly [number, (firstId: number | undefined) => unknown];

/** What providers have answered to a batch with more calls than they take. */
const refusals: [string, ...Refusal][] = [
  [
    "an error",
    200,
    () => ({ jsonrpc: "2.0", id: null, error: { code: -32_600, message: "batch too large" } }),
  ],
  [
    "geth and erigon: a list of one error, with the id of the first call",
    200,
    (id) => [{ jsonrpc: "2.0", id, error: { code: -32_600, message: "batch too large" } }],
  ],
  [
    "a list of one error without an id",
    200,
    () => [{ jsonrpc: "2.0", id: null, error: { code: -32_600, message: "batch too large" } }],
  ],
  ["drpc: the status 500", 500, () => ({ message: free, code: 31 })],
  [
    "1rpc: the status 500 with an error",
    500,
    () => ({ jsonrpc: "2.0", id: null, error: { message: free, code: 31 } }),
  ],
  ["a proxy: the status 403", 403, () => "batches are forbidden"],
  ["a proxy: the status 400 without an error", 400, () => ({ message: "bad request" })],
];

describe.each(refusals)(
  "a node that refuses batches of more than three calls: %s",
  (_what, status, refusalOf) => {
    const isRefused = ({ length }: { length: number }) => length > 3;

    it("is asked in smaller ones, at once and from then on", async () => {
      const node = await startHostileNode((calls, reply) =>
        isRefused(calls) ? reply(refusalOf(calls[0]?.id), status) : reply(resultsOf(calls, ownParam)),
      );
      let nowMs = 0;
      const endpoint = openEndpoint(node.url, { monotonicMs: () => nowMs });
      expect(await endpoint.call(numbered(32))).toEqual(resultsFor(32));
      expect([endpoint.pauseMs(), node.requests.filter(isRefused).length]).toEqual([0, 4]);
      for (const manner of ["any", "strict"] as const)
        expect(await endpoint.call(numbered(40), manner)).toEqual(resultsFor(40));
      expect(node.requests.filter(isRefused)).toHaveLength(4);
      // More are tried after a minute, and not again for another one.
      nowMs += 60_000;
      for (let times = 0; times < 3; times++) await endpoint.call(numbered(40));
      expect(node.requests.filter(isRefused).length).toBeLessThanOrEqual(8);
      expect(node.requests.some(({ length }) => length === 3)).toBe(true);
    });
  },
);

it("a batch of which a node answers some calls is asked for the others", async () => {
  const node = await startHostileNode((calls, reply) => {
    const answers = [resultsOf(calls.slice(0, 5), ownParam)].flat();
    const error = { code: -32_600, message: "batch too large" };
    if (calls.length <= 5) reply(resultsOf(calls, ownParam));
    else reply([...answers, { jsonrpc: "2.0", id: null, error }]);
  });
  expect(await openEndpoint(node.url).call(numbered(12))).toEqual(resultsFor(12));
  const asked = node.requests.flat().map(ownParam);
  expect(asked.filter((param) => param === 0)).toHaveLength(1);
});

it("a node that fails with the status 500 is asked eight times, pauses, and gets batches of the same size later", async () => {
  let nowMs = 0;
  let isFailing = true;
  const node = await startHostileNode((calls, reply) =>
    isFailing ? reply({}, 500) : reply(resultsOf(calls, ownParam)),
  );
  const endpoint = openEndpoint(node.url, { monotonicMs: () => nowMs });
  const outcomes = await endpoint.call(numbered(100));
  expect(node.requests.map(({ length }) => length)).toEqual([100, 50, 25, 13, 7, 4, 2, 1]);
  expect(outcomes).toEqual(Array(100).fill({ unavailable: "it answered with the HTTP status 500" }));
  nowMs += endpoint.pauseMs();
  isFailing = false;
  expect(await endpoint.call(numbered(100))).toEqual(resultsFor(100));
  expect(node.requests).toHaveLength(9);
});

it("what a node says when it cannot confirm a final block is in the reason", async () => {
  const refusing = await startHostileNode((_calls, reply) =>
    reply({ jsonrpc: "2.0", id: null, error: { code: -32_000, message: "no batches, no calls" } }, 503),
  );
  await expect(openNode(refusing.url).finalHeaders([7, 8])).rejects.toThrow(
    "No node of eip155:1 gives block 7, which is final: Node 1 of eip155:1: it answered with the HTTP status 503: no batches, no calls.",
  );
  const lacking = await startHostileNode((calls, reply) => reply(resultsOf(calls, () => null)));
  await expect(openNode(refusing.url, lacking.url).finalHeaders([7, 8])).rejects.toThrow(
    /^Two nodes must confirm block 7 of eip155:1, which is final, and none can: Node 1 of eip155:1: .*no calls\.$/,
  );
  const at = { number: 7, hash: `0x${"7".repeat(64)}` };
  await expect(openNode(refusing.url, lacking.url).noncesAt([`0x${"a".repeat(40)}`], at)).rejects.toThrow(
    /^Two nodes must give the state after block 7, and 0 did: Node 1 of eip155:1: .*no calls; Node 2 of eip155:1: /,
  );
});

it("the parts of a batch that a node has refused have 30 s together, and the next batches are smaller", async () => {
  let nowMs = 0;
  let isRefusing = true;
  const node = await startHostileNode((calls, reply) => {
    nowMs += 9000;
    const error = { code: -32_600, message: "no batches" };
    if (isRefusing && calls.length > 1) reply({ jsonrpc: "2.0", id: null, error });
    else reply(resultsOf(calls, () => "0x1"));
  });
  const endpoint = openEndpoint(node.url, { monotonicMs: () => nowMs });
  const outcomes = await endpoint.call(numbered(100));
  expect(node.requests.map(({ length }) => length)).toEqual([100, 50, 25, 13]);
  expect(outcomes).toEqual(Array(100).fill({ unavailable: "it takes too long for the parts of a batch" }));
  isRefusing = false;
  node.requests.length = 0;
  expect(await endpoint.call(numbered(20))).toEqual(Array(20).fill({ result: "0x1" }));
  expect(Math.max(...node.requests.map(({ length }) => length))).toBeLessThan(10);
});
