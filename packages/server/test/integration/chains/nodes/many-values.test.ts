import { Readable } from "node:stream";
import { expect, it, onTestFinished } from "vitest";
import { createEvmNode } from "../../../../src/rails/evm/node/evm-node.js";
import { nodeTimers } from "../../../../src/runtime/loops/timers.js";
import { resultsOf, startHostileNode } from "../../../harness/chain/hostile-node.js";

const wordOf = (number: number) => `0x${number.toString(16).padStart(64, "0")}`;
const [newest, claimed] = [1000, 1005];
const partBytes = 65_536;
const answerBytes = 32 * 1024 * 1024 - 2 * partBytes;
/** On a machine that is used by others. Parsing all of it held up the process for 5 to 12 s. */
const pauseMaxMs = 2500;

const headerOf = (number: number) => ({
  ...{ number: `0x${number.toString(16)}`, hash: wordOf(number), parentHash: wordOf(number - 1) },
  ...{ timestamp: "0x1", baseFeePerGas: "0x1", logsBloom: `0x${"0".repeat(512)}`, transactions: [] },
});

function resultOf({ method, params }: { method: string; params: readonly unknown[] }, head: number): unknown {
  if (method === "eth_chainId") return "0x1";
  const [named] = params as [string];
  const number = named === "latest" ? head : named === "finalized" ? 932 : Number(named);
  return number > head ? null : headerOf(number);
}

/** A block that has so many transactions of this form that the answer is nearly as large as it may be. */
function* blockOf(id: number, hash: string, item: string) {
  const header = JSON.stringify({ ...headerOf(claimed), hash }).replace('"transactions":[]}', "");
  yield `{"jsonrpc":"2.0","id":${id},"result":${header}"transactions":[`;
  const part = Buffer.from(`${item},`.repeat(partBytes / (item.length + 1)));
  for (let sent = 0; sent < answerBytes; sent += part.length) yield part;
  yield `${item}]}}`;
}

/** The longest time in which nothing else happened. */
async function longestPauseMs(work: () => Promise<unknown>): Promise<number> {
  let last = performance.now();
  let longest = 0;
  const look = () => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  };
  const timer = setInterval(look, 10);
  await work();
  look();
  clearInterval(timer);
  return longest;
}

it.each([
  ["empty objects", "{}"],
  ["numbers", "1.5"],
])(
  "a node that claims a head with a block of %s does not hold up the process",
  async (_what, item) => {
    const honest = () =>
      startHostileNode((calls, reply) => reply(resultsOf(calls, (call) => resultOf(call, newest))));
    const [first, second] = [await honest(), await honest()];
    const liar = await startHostileNode((calls, reply, response) => {
      const whole = calls.find(({ method, params }) => method === "eth_getBlockByHash" && params[1] === true);
      if (whole === undefined) reply(resultsOf(calls, (call) => resultOf(call, claimed)));
      else Readable.from(blockOf(whole.id, whole.params[0] as string, item)).pipe(response);
    });
    const node = createEvmNode({
      network: {
        ...{ network: "eip155:1", chainId: 1, rpcUrls: [first.url, second.url, liar.url], tokens: [] },
        ...{ finality: { tag: "finalized" }, hasDataFee: false, hasPool: true },
        ...{ feeCap: 10n ** 12n, minimumTip: 1n, tipMax: 10n ** 9n },
      },
      ...{ timers: nodeTimers, monotonicMs: () => performance.now(), random: () => 0.5 },
    });
    onTestFinished(node.close);
    const watch = {
      tokens: [],
      findOwned: async () => new Set<string>(),
      findAttempts: async () => new Set<string>(),
    };
    const heads = await node.heads();
    if ("halt" in heads) throw new Error(heads.halt);
    expect(heads.latest.number).toBe(claimed);
    const pauseMs = await longestPauseMs(async () => {
      expect(await node.block(heads.latest.hash, watch, claimed)).toBeUndefined();
      // What was given up can still arrive.
      await new Promise((resolve) => setTimeout(resolve, 3000));
    });
    expect(liar.requests.flat().some(({ params }) => params[1] === true)).toBe(true);
    expect(pauseMs).toBeLessThan(pauseMaxMs);
  },
  120_000,
);
