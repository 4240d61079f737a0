import { afterAll, expect, it } from "vitest";
import {
  closeNodes,
  devnetTokens,
  fundedAccount,
  newAddress,
  openNode,
  useDevnet,
} from "../../../harness/chain/devnet.js";
import { startHostileNode } from "../../../harness/chain/hostile-node.js";

const devnet = useDevnet();
afterAll(closeNodes);

/** What a node answers instead of the chain; undefined for what the chain says. */
type Instead = (
  method: string,
  params: readonly unknown[],
) => { result: string } | { error: object } | undefined;

/** A node of the chain whose newest block is so many ahead of the others. */
async function startNode(aheadBy: number, instead: Instead) {
  return await startHostileNode((calls, reply) => {
    const answers = calls.map(async ({ id, method, params }) => {
      const other = instead(method, params);
      if (other !== undefined) return { jsonrpc: "2.0", id, ...other };
      const result = await devnet().request(method, params);
      const isNewest = method === "eth_getBlockByNumber" && params[0] === "latest";
      return { jsonrpc: "2.0", id, result: isNewest ? shift(result as Record<string, unknown>) : result };
    });
    const shift = (block: Record<string, unknown>) => ({
      ...block,
      number: `0x${(Number(block["number"]) + aheadBy).toString(16)}`,
    });
    void Promise.all(answers).then((all) => reply(all.length === 1 ? all[0] : all));
  });
}

/** It executes everything, and names this much gas. */
const naming =
  (gas: string): Instead =>
  (method) => {
    if (method === "eth_estimateGas") return { result: gas };
    return method === "eth_call" ? { result: `0x${"1".padStart(64, "0")}` } : undefined;
  };

async function newEstimate() {
  const account = await fundedAccount(devnet(), { USDC: 100n });
  await devnet().control("devnet_mine", { blocks: 4 });
  const contract = devnetTokens.find(({ asset }) => asset === "USDC")?.contract as string;
  const draft = { from: account.address.toLowerCase(), contract, destination: newAddress(), amount: 5n };
  return async (...rpcUrls: readonly string[]) => {
    const node = openNode(devnet(), { rpcUrls });
    expect(await node.heads()).toHaveProperty("final");
    return await node.estimate([draft]);
  };
}

const lies = [
  ["too little", "0x5208"],
  ["too much", "0x2dc6c0"],
] as const;

it.each(lies)("a node that claims a head of its own does not give payments %s gas", async (_what, gas) => {
  const { url, secondUrl } = devnet();
  const estimate = await newEstimate();
  const honest = await estimate(url, secondUrl);
  expect(honest).toMatchObject([{ dataFee: 0n }]);
  const liar = await startNode(1000, naming(gas));
  // Nor does it delay them, alone of three.
  expect(await estimate(liar.url, url, secondUrl)).toEqual(honest);
  expect(await estimate(url, secondUrl, liar.url)).toEqual(honest);
  expect(await estimate(liar.url, url)).toEqual([{ refused: "UNAVAILABLE" }]);
});

it.each(lies)("nor does one if the other no longer has the state of the block: %s", async (_what, gas) => {
  const pruned = await startNode(0, (method, params) =>
    ["eth_estimateGas", "eth_call"].includes(method) && params[1] !== "latest"
      ? { error: { code: -32_000, message: "missing trie node" } }
      : undefined,
  );
  const { url } = devnet();
  const estimate = await newEstimate();
  const honest = await estimate(url);
  expect(await estimate(url, pruned.url)).toEqual(honest);
  const liar = await startNode(0, naming(gas));
  expect(await estimate(liar.url, pruned.url)).toEqual([{ refused: "UNAVAILABLE" }]);
});
