import { afterAll, describe, expect, it } from "vitest";
import { OperatorError } from "../../../../src/operator-error.js";
import { closeNodes, openNode, useDevnet } from "../../../harness/chain/devnet.js";
import { startHostileNode } from "../../../harness/chain/hostile-node.js";
import { type Lie, startLyingNode } from "../../../harness/chain/lying-proxy.js";

const devnet = useDevnet();
afterAll(closeNodes);

type Block = Record<string, unknown>;

const isBlock = (method: string, params: readonly unknown[], named: string) =>
  method === "eth_getBlockByNumber" && params[0] === named;

const lies: [string, Lie, RegExp][] = [
  [
    "is on another chain",
    (method, _params, result) => (method === "eth_chainId" ? "0x1" : result),
    /^Node . of eip155:31337 is on chain 1, and the network is configured as chain 31337/,
  ],
  [
    "has another first block",
    (method, params, result) =>
      isBlock(method, params, "0x0") ? { ...(result as Block), hash: `0x${"1".repeat(64)}` } : result,
    /have different first blocks/,
  ],
  [
    "names no final block",
    (method, params, result) => (isBlock(method, params, "finalized") ? null : result),
    /^Node . of eip155:31337 does not name a `finalized` block/,
  ],
  [
    "has no tokens, because it is behind",
    (method, _params, result) => (method === "eth_getCode" ? "0x" : result),
    /there is no contract at this address/,
  ],
];

describe.each(lies)("a node that %s", (_what, lie, sentence) => {
  it("is a warning if two others are as configured, and refuses the start if it is not outvoted", async () => {
    await devnet().control("devnet_mine", { blocks: 5 });
    const { url, secondUrl } = devnet();
    const [liar, other] = [await startLyingNode(devnet(), lie), await startLyingNode(devnet(), lie)];
    const probe = (...rpcUrls: string[]) => openNode(devnet(), { rpcUrls }).probe();
    expect(await probe(liar.url, url, secondUrl)).toEqual([expect.stringMatching(sentence)]);
    expect(await probe(url, secondUrl, liar.url)).toEqual([expect.stringMatching(sentence)]);
    // Without an earlier start, only another node says which first block it should be.
    const isOfOthers = sentence.source.includes("different");
    const more = isOfOthers ? [] : [[liar.url, url, other.url], [liar.url]];
    for (const urls of [[url, liar.url], ...more]) {
      const error = await probe(...urls).catch((cause: unknown) => cause);
      expect(error).toBeInstanceOf(OperatorError);
      expect((error as Error).message).toMatch(sentence);
    }
  });
});

it("a node that does not answer is a warning, and so is one that is far behind", async () => {
  await devnet().control("devnet_mine", { blocks: 20 });
  const { url, secondUrl } = devnet();
  const silent = await startHostileNode((_calls, _reply, response) => void response.destroy());
  const missing = expect.stringMatching(/^Node 1 of eip155:31337 does not answer: the request failed/);
  const probe = (...rpcUrls: string[]) => openNode(devnet(), { rpcUrls }).probe();
  expect(await probe(silent.url, url, secondUrl)).toEqual([missing]);
  expect(await probe(silent.url, url)).toEqual([missing]);
  // The others have lost the state of the block that it calls final.
  const { head } = await devnet().control("devnet_status", {});
  const old = await devnet().request("eth_getBlockByNumber", ["0x2", false]);
  const behind = await startLyingNode(devnet(), (method, params, result) =>
    isBlock(method, params, "finalized") || isBlock(method, params, "latest")
      ? { ...(old as Block), number: params[0] === "latest" ? "0x3" : "0x2" }
      : result,
  );
  const pruned = async () =>
    await startLyingNode(devnet(), (method, params, result) => {
      if (method !== "eth_getBalance" || Number(params[1]) > head.number - 10) return result;
      throw new Error("missing trie node");
    });
  const [one, two] = [await pruned(), await pruned()];
  expect(await probe(behind.url, one.url, two.url)).toEqual([]);
});
