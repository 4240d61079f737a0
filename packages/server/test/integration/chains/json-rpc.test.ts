import { describe, expect, it, onTestFinished } from "vitest";
import { readData } from "../../../src/rails/evm/node/read-values.js";
import { createRpcEndpoint, type RpcEndpointDeps } from "../../../src/rails/evm/rpc/rpc-endpoint.js";
import { AnswerFault, createRpcPool, type Question } from "../../../src/rails/evm/rpc/rpc-pool.js";
import { nodeTimers } from "../../../src/runtime/loops/timers.js";
import { type HostileNode, resultsOf, startHostileNode } from "../../harness/chain/hostile-node.js";
import { createMovingClock } from "../../harness/chain/moving-clock.js";

function endpointTo(url: string, options: Partial<RpcEndpointDeps> = {}) {
  const endpoint = createRpcEndpoint({
    name: "Node 1",
    url,
    timers: nodeTimers,
    monotonicMs: () => performance.now(),
    random: () => 0,
    ...options,
  });
  onTestFinished(endpoint.close);
  return endpoint;
}

const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ method: "eth_call", params: [index] }));

describe("an endpoint", () => {
  it("matches answers to calls by their ids, in any order", async () => {
    const node = await startHostileNode((calls, reply) =>
      reply((resultsOf(calls, ({ params }) => params[0]) as unknown[]).reverse()),
    );
    const outcomes = await endpointTo(node.url).call(numbered(5));
    expect(outcomes).toEqual([0, 1, 2, 3, 4].map((result) => ({ result })));
  });

  it("sends a single call as an object, for nodes without batches", async () => {
    const node = await startHostileNode((calls, reply) => reply(resultsOf(calls, () => "0x1")));
    expect(await endpointTo(node.url).call(numbered(1))).toEqual([{ result: "0x1" }]);
    expect(node.isBatch).toEqual([false]);
  });

  it("does not take an answer that is missing, doubled, or for another call", async () => {
    const node = await startHostileNode((calls, reply) => {
      const answers = resultsOf(calls, ({ params }) => params[0]) as { id: number }[];
      const [first, second, third] = answers as [{ id: number }, { id: number }, { id: number }];
      reply([first, second, second, { ...third, id: 999 }]);
    });
    const outcomes = await endpointTo(node.url).call(numbered(3));
    expect(outcomes).toEqual([
      { result: 0 },
      { unavailable: "it is answered twice", isWrong: true },
      { unavailable: "it is not answered", isWrong: true },
    ]);
  });

  it.each<[string, unknown]>([
    ["a string", "OK"],
    ["null", null],
    ["an object with another id", { jsonrpc: "2.0", id: 999, result: "0x1" }],
    ["an object without a result", { jsonrpc: "2.0", id: 1 }],
    ["an error that is a string", { jsonrpc: "2.0", id: 1, error: "no" }],
    ["a list with null in it", [null]],
  ])("that answers %s is unavailable", async (_, body) => {
    const node = await startHostileNode((_calls, reply) => reply(body));
    const [outcome] = await endpointTo(node.url).call(numbered(1));
    expect(outcome).toMatchObject({ unavailable: expect.any(String) });
  });

  it("divides a batch that is refused as a whole, down to single calls, and remembers the size", async () => {
    const node = await startHostileNode((calls, reply) =>
      calls.length > 3
        ? reply({ jsonrpc: "2.0", id: null, error: { code: -32_600, message: "batch too large" } })
        : reply(resultsOf(calls, ({ params }) => params[0])),
    );
    const endpoint = endpointTo(node.url);
    expect(await endpoint.call(numbered(10))).toEqual(numbered(10).map((_, result) => ({ result })));
    const before = node.requests.length;
    await endpoint.call(numbered(3));
    expect(node.requests.length - before).toBe(1);
  });

  it("divides a batch whose answer is too large, and refuses a single one without a pause", async () => {
    const node = await startHostileNode((calls, reply) => reply(resultsOf(calls, () => "x".repeat(400))));
    const endpoint = endpointTo(node.url, { answerBytesMax: 1000 });
    const outcomes = await endpoint.call(numbered(8));
    expect(outcomes.every((outcome) => "result" in outcome)).toBe(true);
    const small = endpointTo(node.url, { answerBytesMax: 100 });
    const error = { code: 413, message: "the answer has more than 100 bytes", returned: undefined };
    expect(await small.call(numbered(1))).toEqual([{ error }]);
    expect(small.pauseMs()).toBe(0);
  });

  it("gives up on an answer that begins in time and does not end", async () => {
    const node = await startHostileNode((_calls, _reply, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const timer = setInterval(() => response.write(" "), 20);
      response.on("close", () => clearInterval(timer));
    });
    const [outcome] = await endpointTo(node.url, { timeoutMs: 300 }).call(numbered(1));
    expect(outcome).toEqual({ unavailable: "no whole answer within 300 ms" });
  });

  it("does not pause because something brief took too long, and answers everything else", async () => {
    const node = await startHostileNode((calls, reply) =>
      calls.some(({ method }) => method === "eth_estimateGas")
        ? undefined
        : reply(resultsOf(calls, () => "0x1")),
    );
    const endpoint = endpointTo(node.url, { timeoutMs: 300 });
    const slow = [{ method: "eth_estimateGas", params: [] }];
    expect(await endpoint.call(slow, "brief")).toEqual([{ unavailable: "no whole answer within 300 ms" }]);
    expect(endpoint.pauseMs()).toBe(0);
    expect(await endpoint.call(numbered(1))).toEqual([{ result: "0x1" }]);
    await endpoint.call(slow);
    expect(endpoint.pauseMs()).toBeGreaterThan(0);
  });

  it("pauses after 429 for as long as the node says, asks nothing in this time, and waits for the end of it", async () => {
    const clock = createMovingClock();
    const node = await startHostileNode((calls, reply) =>
      node.requests.length === 1
        ? reply({}, 429, { "retry-after": "7" })
        : reply(resultsOf(calls, () => "0x1")),
    );
    const endpoint = endpointTo(node.url, clock);
    expect(await endpoint.call(numbered(2))).toEqual(
      Array(2).fill({ unavailable: "it refuses for now, because it was asked too often" }),
    );
    expect(endpoint.pauseMs()).toBe(7000);
    clock.state.nowMs = 1999;
    expect(await endpoint.call(numbered(1))).toEqual([{ unavailable: "it pauses after a failure" }]);
    clock.state.nowMs = 2000;
    expect(await endpoint.call(numbered(1))).toEqual([{ result: "0x1" }]);
    expect(clock.state.nowMs).toBe(7000);
    expect(node.requests).toHaveLength(2);
  });

  it.each([
    [-32_005, "exceeded project rate limit"],
    [429, "Your app has exceeded its compute units per second capacity."],
    [-32_007, "50/second request limit reached - reduce calls per second"],
    [-32_016, "over rate limit"],
  ])("pauses after the error %d %s, which comes with the status 200 in a batch", async (code, message) => {
    const node = await startHostileNode((calls, reply) =>
      reply(calls.map(({ id }) => ({ jsonrpc: "2.0", id, error: { code, message } }))),
    );
    const endpoint = endpointTo(node.url, createMovingClock());
    expect(await endpoint.call(numbered(2))).toEqual(Array(2).fill({ unavailable: expect.any(String) }));
    expect(endpoint.pauseMs()).toBeGreaterThan(0);
  });

  it("pauses twice as long after each failure, and not at all after a success", async () => {
    let nowMs = 0;
    let status = 502;
    const node = await startHostileNode((calls, reply) =>
      reply(
        resultsOf(calls, () => "0x1"),
        status,
      ),
    );
    const endpoint = endpointTo(node.url, { monotonicMs: () => nowMs, random: () => 1 });
    const pauses: number[] = [];
    for (let count = 0; count < 9; count++) {
      await endpoint.call(numbered(1));
      pauses.push(endpoint.pauseMs());
      nowMs += endpoint.pauseMs();
    }
    expect(pauses).toEqual([250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    status = 200;
    expect(await endpoint.call(numbered(1))).toEqual([{ result: "0x1" }]);
    expect(endpoint.pauseMs()).toBe(0);
  });

  it("shows no part of its URL, whatever fails and even if the node repeats it", async () => {
    const shown: string[] = [];
    const echo = await startHostileNode((calls, reply, _response, request) => {
      const text = `no access for ${request.url} ${request.headers.authorization} ${request.headers.host}`;
      const message = `${text} ${decodeURIComponent(request.url ?? "")}`;
      reply({ jsonrpc: "2.0", id: calls[0]?.id, error: { code: -32_000, message } });
    });
    const { host } = new URL(echo.url);
    const secretUrl = (scheme: string, to: string) =>
      `${scheme}://CANARYUSER:CANARY%2BPASS@${to}/v3/CANARY-KEY%20x?token=CANARYTOKEN`;
    const closed = await startHostileNode(() => undefined);
    const urls = [secretUrl("http", host), secretUrl("https", host), secretUrl("http", "127.0.0.1:1")];
    urls.push(secretUrl("http", "CANARYHOST.invalid"), secretUrl("http", new URL(closed.url).host));
    for (const url of urls)
      shown.push(JSON.stringify(await endpointTo(url, { timeoutMs: 1000 }).call(numbered(1))));
    for (const url of ["http://CANARY KEY", "ftp://CANARY.example/CANARYKEY", "CANARYKEY"])
      try {
        endpointTo(url);
      } catch (error) {
        const { message, stack, cause } = error as Error;
        shown.push(message, String(stack), JSON.stringify(error), String(cause));
      }
    expect(shown).toHaveLength(17);
    const credentials = Buffer.from("CANARYUSER:CANARY+PASS").toString("base64");
    for (const text of shown) {
      expect(text).not.toMatch(/canary/i);
      expect(text).not.toContain(credentials);
    }
    expect(shown[0]).toContain("no access for");
  });
});

describe("several endpoints", () => {
  const readNumber = (result: unknown): number | undefined => {
    if (result === null) return undefined;
    if (typeof result !== "number") throw new AnswerFault("not a number");
    return result;
  };
  const question: Question<number> = { method: "eth_number", params: [], read: readNumber };

  function poolOf(nodes: readonly HostileNode[]) {
    const endpoints = nodes.map(({ url }, index) => endpointTo(url, { name: `Node ${index + 1}` }));
    return createRpcPool({
      network: "eip155:1",
      endpoints,
      timers: nodeTimers,
      monotonicMs: () => performance.now(),
    });
  }
  const nodeThat = (result: unknown) =>
    startHostileNode((calls, reply) => reply(resultsOf(calls, () => result)));
  const failing = (message = "header not found") =>
    startHostileNode((calls, reply) =>
      reply({ jsonrpc: "2.0", id: calls[0]?.id, error: { code: -32_000, message } }),
    );

  it("go to the next one if reading an answer fails in any way, as with 16 MB in one field", async () => {
    const huge = `0x${"ab".repeat(8_500_000)}`;
    const read = (result: unknown) => {
      if (result === "0x") throw new TypeError("cannot read properties of undefined");
      return readData(result, "data").length;
    };
    const asked: Question<number> = { method: "eth_getLogs", params: [], read };
    const nodes = [await nodeThat("0x"), await nodeThat("0xab")];
    expect(await poolOf(nodes).ask([asked])).toEqual([{ value: 4 }]);
    expect(await poolOf([await nodeThat(huge)]).ask([asked])).toEqual([{ value: huge.length }]);
    const nodesOfSmall = [await nodeThat(huge), await nodeThat("0xab")];
    expect(await poolOf(nodesOfSmall).ask([{ ...asked, method: "eth_call" }])).toEqual([{ value: 4 }]);
    const refusing = await startHostileNode(([call], reply) =>
      reply({ jsonrpc: "2.0", id: call?.id, error: { code: 3, message: "reverted", data: huge } }),
    );
    const [answer] = await poolOf([refusing]).ask([asked]);
    expect(JSON.stringify(answer).length).toBeLessThan(3000);
  });

  it("are asked in order, and the first that has an answer gives it", async () => {
    const nodes = [await nodeThat(1), await nodeThat(2)];
    expect(await poolOf(nodes).ask([question])).toEqual([{ value: 1 }]);
    expect(nodes[1]?.requests).toEqual([]);
  });

  it.each<[string, () => Promise<HostileNode>]>([
    ["is not there", () => startHostileNode((_calls, _reply, response) => response.destroy())],
    ["answers something else", () => nodeThat("a page of HTML")],
    ["does not have it", () => nodeThat(null)],
    ["refuses", () => failing()],
  ])("give the answer of the second if the first %s", async (_, start) => {
    expect(await poolOf([await start(), await nodeThat(2)]).ask([question])).toEqual([{ value: 2 }]);
    const only = { value: undefined };
    expect(await poolOf([await start(), await nodeThat(null)]).ask([question])).toEqual([only]);
  });

  it("give the error if all of them refuse", async () => {
    const [answer] = await poolOf([await failing(), await failing("again")]).ask([question]);
    expect(answer).toMatchObject({ error: { code: -32_000 } });
  });

  it("wait for one that pauses and ask it again", async () => {
    const node = await startHostileNode((calls, reply) =>
      node.requests.length < 3 ? reply({}, 503) : reply(resultsOf(calls, () => 3)),
    );
    expect(await poolOf([node]).ask([question])).toEqual([{ value: 3 }]);
  });

  it("are unavailable, with the reasons, if none has an answer", async () => {
    const nodes = [await nodeThat("a page of HTML"), await startHostileNode((_c, reply) => reply({}, 503))];
    await expect(poolOf(nodes).ask([question])).rejects.toThrow(
      /^No node of eip155:1 gives a usable answer: Node 1: the answer to eth_number is wrong: not a number; Node 2: it answered with the HTTP status 503/,
    );
  });

  it("answer a set of questions from the same node, if they belong together", async () => {
    const half = await startHostileNode((calls, reply) =>
      reply(resultsOf(calls, ({ params }) => (params[0] === 1 ? null : 1))),
    );
    const set = [0, 1].map((index) => ({ ...question, params: [index] }));
    expect(await poolOf([half, await nodeThat(2)]).askOneNode(set)).toEqual([2, 2]);
    expect((await poolOf([half, await nodeThat(2)]).ask(set)).map((answer) => answer)).toEqual([
      { value: 1 },
      { value: 2 },
    ]);
  });
});
