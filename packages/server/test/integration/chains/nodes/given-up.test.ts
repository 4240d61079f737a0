import type { ServerResponse } from "node:http";
import { expect, it, onTestFinished } from "vitest";
import { createRpcEndpoint, type RpcEndpoint } from "../../../../src/rails/evm/rpc/rpc-endpoint.js";
import { createRpcPool, type RpcPool } from "../../../../src/rails/evm/rpc/rpc-pool.js";
import { nodeTimers } from "../../../../src/runtime/loops/timers.js";
import { resultsOf, startHostileNode } from "../../../harness/chain/hostile-node.js";
import { eventually } from "../../../harness/eventually.js";

const monotonicMs = () => performance.now();
const question = {
  method: "eth_getBlockByHash",
  params: ["0x1", true],
  read: (result: unknown) => result ?? undefined,
};

/** Two nodes answer the same, and the last one begins to answer and never ends. */
async function openPool(said: unknown) {
  const answers: ServerResponse[] = [];
  const honest = () => startHostileNode((calls, reply) => reply(resultsOf(calls, () => said)));
  const endless = await startHostileNode((_calls, _reply, response) => {
    answers.push(response);
    response.writeHead(200).write('{"jsonrpc":"2.0","id":1,"result":[');
  });
  const urls = [(await honest()).url, (await honest()).url, endless.url];
  const endpoints = urls.map((url, index) =>
    createRpcEndpoint({ name: `Node ${index + 1}`, url, timers: nodeTimers, monotonicMs, random: () => 0.5 }),
  );
  const pool = createRpcPool({ network: "eip155:1", endpoints, timers: nodeTimers, monotonicMs });
  onTestFinished(pool.close);
  return { pool, last: endpoints[2] as RpcEndpoint, answers };
}

it.each([
  ["ask", null, (pool: RpcPool) => pool.ask([question])],
  ["askEach", "0x1", (pool: RpcPool) => pool.askEach([question])],
  ["askAll", "0x1", (pool: RpcPool) => pool.askAll([question])],
] as const)("%s ends the request to a node that is not waited for any more", async (_name, said, ask) => {
  const { pool, last, answers } = await openPool(said);
  const beganMs = performance.now();
  await ask(pool);
  expect(answers).toHaveLength(1);
  await eventually(
    () => answers[0]?.closed,
    (isClosed) => isClosed === true,
  );
  // Long before its timeout, which would be a failure of the node.
  expect(performance.now() - beganMs).toBeLessThan(8000);
  expect(last.pauseMs()).toBe(0);
});

it("sends nothing for calls that were given up before", async () => {
  const node = await startHostileNode((calls, reply) => reply(resultsOf(calls, () => "0x1")));
  const endpoint = createRpcEndpoint({
    name: "Node 1",
    url: node.url,
    timers: nodeTimers,
    monotonicMs,
    random: () => 0.5,
  });
  onTestFinished(endpoint.close);
  const calls = [{ method: "eth_chainId", params: [], givenUp: AbortSignal.abort() }];
  expect(await endpoint.call(calls)).toEqual([{ unavailable: "nobody waits for it any more" }]);
  expect(node.requests).toEqual([]);
});
