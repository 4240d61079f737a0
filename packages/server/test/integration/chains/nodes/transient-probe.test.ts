import { expect, it, onTestFinished } from "vitest";
import { OperatorError } from "../../../../src/operator-error.js";
import { createEvmNode } from "../../../../src/rails/evm/node/evm-node.js";
import { nodeTimers } from "../../../../src/runtime/loops/timers.js";
import { startHostileNode } from "../../../harness/chain/hostile-node.js";

const hashOf = (number: number) => `0x${number.toString(16).padStart(64, "0")}`;
const token = { asset: "USDC", contract: `0x${"c".repeat(40)}`, decimals: 6 };
interface Call {
  readonly method: string;
  readonly params: readonly unknown[];
}

function resultOf({ method, params }: Call): unknown {
  if (method === "eth_chainId") return "0x1";
  if (method === "eth_getBalance") return "0x0";
  if (method === "eth_getCode") return params[0] === token.contract ? "0x6000" : "0x";
  if (method === "eth_call") return `0x${"6".padStart(64, "0")}`;
  const [named] = params;
  const number = named === "latest" ? 1000 : named === "finalized" ? 932 : Number(named);
  const header = {
    number: `0x${number.toString(16)}`,
    hash: hashOf(number),
    parentHash: hashOf(number + 5000),
  };
  return { ...header, timestamp: "0x1", baseFeePerGas: "0x1" };
}

/** What a node says in the place of an answer, or nothing. */
type Fault = (call: Call) => object | undefined;
const errorAt =
  (is: (call: Call) => boolean, code: number, message: string): Fault =>
  (call) =>
    is(call) ? { error: { code, message } } : undefined;
const isDecimals = ({ method }: Call) => method === "eth_call";
const isFinalized = ({ params }: Call) => params[0] === "finalized";
const isLatest = ({ params }: Call) => params[0] === "latest";

/** The node has the fault in the first of the requests that ask about it, so many of them. */
async function probe(fault: Fault, times: number): Promise<readonly string[]> {
  let left = times;
  const node = await startHostileNode((calls, reply) => {
    const isFaulty = left > 0 && calls.some((call) => fault(call) !== undefined);
    if (isFaulty) left -= 1;
    const answers = calls.map(({ id, ...call }) => ({
      ...{ jsonrpc: "2.0", id },
      ...((isFaulty ? fault(call) : undefined) ?? { result: resultOf(call) }),
    }));
    reply(answers.length === 1 ? answers[0] : answers);
  });
  const evm = createEvmNode({
    network: {
      ...{ network: "eip155:1", chainId: 1, rpcUrls: [node.url], finality: { tag: "finalized" } },
      ...{ hasDataFee: false, hasPool: true, feeCap: 10n ** 12n, minimumTip: 1n, tipMax: 10n ** 9n },
      tokens: [token],
    },
    ...{ timers: nodeTimers, monotonicMs: () => performance.now(), random: () => 0 },
  });
  onTestFinished(evm.close);
  return await evm.probe();
}

it.each<[string, Fault]>([
  ["an error to decimals()", errorAt(isDecimals, -32_603, "Internal error")],
  ["a backend without the newest block", errorAt(isDecimals, -32_000, "header not found")],
  ["a node that was restarted", errorAt(isFinalized, -39_001, "finalized block not found")],
  ["no final block", (call) => (isFinalized(call) ? { result: null } : undefined)],
  [
    "a backend that lags",
    (call) => (isLatest(call) ? { result: resultOf({ method: "", params: ["0x3a4"] }) } : undefined),
  ],
  [
    "a backend without the token",
    ({ method, params }) =>
      method === "eth_getCode" && params[0] === token.contract ? { result: "0x" } : undefined,
  ],
])("a start goes on without a warning after %s once", async (_what, fault) => {
  expect(await probe(fault, 1)).toEqual([]);
});

it.each<[string, Fault, string]>([
  ["an error to decimals()", errorAt(isDecimals, -32_603, "Internal error"), "error -32603: Internal error"],
  [
    "a node that has just been restarted",
    errorAt(isFinalized, -39_001, "finalized block not found"),
    "error -39001: finalized block not found",
  ],
])("a start is not refused by %s that stays", async (_what, fault, reason) => {
  const said = await probe(fault, 100).then(
    (sentences) => sentences.join(),
    (error: Error) => (error instanceof OperatorError ? "refused" : error.message),
  );
  expect(said).toContain(reason);
});

it.each<[string, Fault, string]>([
  ["a token without decimals()", errorAt(isDecimals, 3, "execution reverted"), "has no decimals()"],
  [
    "no final block",
    (call) => (isFinalized(call) ? { result: null } : undefined),
    "does not name a `finalized` block",
  ],
  [
    "a final block that is the newest one",
    (call) => (isFinalized(call) ? { result: resultOf({ method: "", params: ["latest"] }) } : undefined),
    "calls its newest block 1000 `finalized`",
  ],
])("a start is refused because of %s", async (_what, fault, sentence) => {
  const error = await probe(fault, 100).catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(OperatorError);
  expect((error as Error).message).toContain(sentence);
});
