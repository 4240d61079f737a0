import { describe, expect, it, onTestFinished } from "vitest";
import { createEvmNode } from "../../../../src/rails/evm/node/evm-node.js";
import { createRpcEndpoint } from "../../../../src/rails/evm/rpc/rpc-endpoint.js";
import { resultsOf, startHostileNode } from "../../../harness/chain/hostile-node.js";
import { createMovingClock } from "../../../harness/chain/moving-clock.js";

const hashOf = (number: number) => `0x${number.toString(16).padStart(64, "0")}`;
const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ method: "eth_call", params: [index] }));

function resultOf({ method, params }: { method: string; params: readonly unknown[] }): unknown {
  if (method === "eth_call") return params[0];
  if (method === "eth_getTransactionCount") return "0x5";
  if (method === "eth_sendRawTransaction") return hashOf(1);
  const number = Number(params[0]);
  return {
    ...{ number: `0x${number.toString(16)}`, hash: hashOf(number), parentHash: hashOf(number - 1) },
    ...{ timestamp: "0x1", baseFeePerGas: "0x1" },
  };
}

type Clock = ReturnType<typeof createMovingClock>;

/** How a provider refuses what is above its limit: the whole request, or each call. */
type Kind = "429" | "400" | "elements" | "one error";

/** So many calls a second, with a burst as large; each call of a batch counts. */
async function startLimited(kind: Kind, { state }: Clock, perSecond: number) {
  let [tokens, lastMs] = [perSecond, 0];
  const seen = { refused: 0 };
  const message = `${perSecond}/second request limit reached - reduce calls per second`;
  const error = { code: -32_007, message };
  const node = await startHostileNode((calls, reply) => {
    tokens = Math.min(perSecond, tokens + ((state.nowMs - lastMs) * perSecond) / 1000);
    lastMs = state.nowMs;
    const isWhole = kind === "429" || kind === "400";
    const admitted = isWhole && tokens < calls.length ? 0 : Math.min(calls.length, Math.floor(tokens));
    tokens -= admitted;
    if (admitted < calls.length) seen.refused += 1;
    if (admitted === calls.length) return reply(resultsOf(calls, resultOf));
    if (isWhole) return reply({ jsonrpc: "2.0", id: null, error }, Number(kind));
    const given = calls.slice(0, admitted).map((call) => ({ id: call.id, result: resultOf(call) }));
    const refused = calls.slice(admitted).map(({ id }) => ({ id, error }));
    const answers = [...given, ...(kind === "elements" ? refused : [{ id: null, error }])];
    return reply(calls.length === 1 ? answers[0] : answers);
  });
  return { node, seen };
}

function openEndpoint(url: string, clock: Clock) {
  const endpoint = createRpcEndpoint({ name: "Node 1", url, random: () => 1, ...clock });
  onTestFinished(endpoint.close);
  return endpoint;
}

describe.each<[Kind, number]>([
  ["429", 15],
  ["429", 25],
  ["400", 15],
  ["elements", 15],
  ["elements", 25],
  ["one error", 15],
])("a node that refuses with %s what is more than %i calls a second", (kind, perSecond) => {
  it("answers more than that, in parts, in not much more than the time that it needs", async () => {
    const clock = createMovingClock();
    const { node, seen } = await startLimited(kind, clock, perSecond);
    const endpoint = openEndpoint(node.url, clock);
    for (const manner of ["any", "strict", "any"] as const) {
      const beganMs = clock.state.nowMs;
      const outcomes = await endpoint.call(numbered(100), manner);
      expect(outcomes).toEqual(numbered(100).map((_, result) => ({ result })));
      expect(clock.state.nowMs - beganMs).toBeLessThan((2 * 100_000) / perSecond);
    }
    // Batches that it has refused are not sent again and again.
    expect(seen.refused).toBeLessThan(node.requests.length);
    const strict = node.requests.flat().filter(({ method }) => method === "eth_call");
    expect(strict.length).toBeLessThan(20 * 300);
  });

  it("gives final blocks and nonces, and takes payments", async () => {
    const clock = createMovingClock();
    const { node } = await startLimited(kind, clock, perSecond);
    const evm = createEvmNode({
      network: {
        ...{ network: "eip155:1", chainId: 1, rpcUrls: [node.url], finality: { tag: "finalized" } },
        ...{ hasDataFee: false, hasPool: true, feeCap: 10n ** 12n, minimumTip: 1n, tipMax: 10n ** 9n },
        tokens: [],
      },
      ...{ timers: clock.timers, monotonicMs: clock.monotonicMs, random: () => 1 },
    });
    onTestFinished(evm.close);
    const numbers = Array.from({ length: 32 }, (_, index) => 901 + index);
    const addresses = Array.from({ length: 40 }, (_, index) => `0x${index.toString(16).padStart(40, "0")}`);
    const bytes = addresses.map((address) => `0x02${address.slice(-4)}`);
    expect(await evm.finalHeaders(numbers)).toHaveLength(32);
    expect(await evm.noncesAt(addresses, { number: 932, hash: hashOf(932) })).toEqual(addresses.map(() => 5));
    expect(await evm.send(bytes)).toEqual(bytes.map(() => "taken"));
  });
});

it("a node that refuses a batch for its size as if it was asked too often is asked in smaller ones", async () => {
  const clock = createMovingClock();
  const isRefused = ({ length }: { length: number }) => length > 3;
  const error = { code: -32_600, message: "too many requests" };
  const node = await startHostileNode((calls, reply) =>
    isRefused(calls) ? reply({ jsonrpc: "2.0", id: null, error }, 400) : reply(resultsOf(calls, resultOf)),
  );
  const endpoint = openEndpoint(node.url, clock);
  expect(await endpoint.call(numbered(32))).toEqual(numbered(32).map((_, result) => ({ result })));
  expect(clock.state.nowMs).toBeLessThan(5000);
  const refused = node.requests.filter(isRefused).length;
  for (let times = 0; times < 3; times++) await endpoint.call(numbered(32), "strict");
  expect(node.requests.filter(isRefused).length).toBe(refused);
});

it("a node that counts requests gets batches of the same size after a pause", async () => {
  const clock = createMovingClock();
  const node = await startHostileNode((calls, reply) =>
    node.requests.length % 2 === 1 ? reply({}, 429) : reply(resultsOf(calls, resultOf)),
  );
  const endpoint = openEndpoint(node.url, clock);
  for (let times = 0; times < 5; times++)
    expect(await endpoint.call(numbered(50))).toEqual(numbered(50).map((_, result) => ({ result })));
  expect(node.requests.map(({ length }) => length)).toEqual(Array(10).fill(50));
});

it("a node whose quota is used up is not waited for in each call", async () => {
  const clock = createMovingClock();
  const node = await startHostileNode((_calls, reply) => reply({}, 429));
  const endpoint = openEndpoint(node.url, clock);
  const limited = { unavailable: "it refuses for now, because it was asked too often" };
  expect(await endpoint.call(numbered(32))).toEqual(Array(32).fill(limited));
  expect(clock.state.nowMs).toBeLessThan(15_000);
  for (let times = 0; times < 10; times++) {
    clock.state.nowMs += Math.max(0, endpoint.pauseMs() - 5000);
    const beganMs = clock.state.nowMs;
    await endpoint.call(numbered(32));
    expect(clock.state.nowMs - beganMs).toBeLessThanOrEqual(5000);
  }
  expect(node.requests.length).toBeLessThan(40);
});

it("a contract whose revert names a rate limit does not make the node pause", async () => {
  const clock = createMovingClock();
  const error = { code: 3, message: "execution reverted: rate limit", data: "0x08c379a0" };
  const node = await startHostileNode((calls, reply) => {
    const answers = calls.map((call) =>
      call.method === "eth_estimateGas" ? { id: call.id, error } : { id: call.id, result: resultOf(call) },
    );
    reply(answers.length === 1 ? answers[0] : answers);
  });
  const endpoint = openEndpoint(node.url, clock);
  const { code, message, data } = error;
  const reverted = { error: { code, message, returned: data } };
  const estimate = { method: "eth_estimateGas", params: [] };
  expect(await endpoint.call([estimate], "foreign")).toEqual([reverted]);
  expect(await endpoint.call([estimate, ...numbered(1)])).toEqual([reverted, { result: 0 }]);
  expect(endpoint.pauseMs()).toBe(0);
  expect(clock.state.nowMs).toBe(0);
  expect(node.requests).toHaveLength(2);
});
