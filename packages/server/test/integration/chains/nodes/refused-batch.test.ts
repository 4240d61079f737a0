import { expect, it, onTestFinished } from "vitest";
import { createRpcEndpoint } from "../../../../src/rails/evm/rpc/rpc-endpoint.js";
import { resultsOf, startHostileNode } from "../../../harness/chain/hostile-node.js";

const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ method: "eth_call", params: [index] }));

it("the parts of a batch that a node has refused have 30 s together, and the next batches are smaller", async () => {
  let nowMs = 0;
  let isRefusing = true;
  const node = await startHostileNode((calls, reply) => {
    nowMs += 9000;
    const error = { code: -32_600, message: "no batches" };
    if (isRefusing && calls.length > 1) reply({ jsonrpc: "2.0", id: null, error });
    else reply(resultsOf(calls, () => "0x1"));
  });
  const given = { name: "Node 1", url: node.url, monotonicMs: () => nowMs, random: () => 0 };
  const endpoint = createRpcEndpoint(given);
  onTestFinished(endpoint.close);
  const outcomes = await endpoint.call(numbered(100));
  expect(node.requests.map(({ length }) => length)).toEqual([100, 50, 25, 13]);
  expect(outcomes).toEqual(Array(100).fill({ unavailable: "it takes too long for the parts of a batch" }));
  isRefusing = false;
  node.requests.length = 0;
  expect(await endpoint.call(numbered(20))).toEqual(Array(20).fill({ result: "0x1" }));
  expect(Math.max(...node.requests.map(({ length }) => length))).toBeLessThan(10);
});
