import { afterAll, expect, it } from "vitest";
import {
  closeNodes,
  devnetTokens,
  fundedAccount,
  newAddress,
  openNode,
  sendRaw,
  signPayment,
  useDevnet,
  watchFor,
} from "../../../harness/chain/devnet.js";
import { startHostileNode } from "../../../harness/chain/hostile-node.js";
import { eventually } from "../../../harness/eventually.js";

const devnet = useDevnet();
afterAll(closeNodes);

const usdc = devnetTokens[0] as (typeof devnetTokens)[number];
const tooLarge = { error: { code: -32_008, message: "Response is too big" } };
const isOfReceipts = (method: string) =>
  method === "eth_getTransactionReceipt" || method === "eth_getBlockReceipts";

/** A node with the same chain, but for these answers. */
async function startNode(change: (method: string, result: unknown) => object | undefined) {
  const node = await startHostileNode((calls, reply) => {
    const answers = calls.map(async ({ id, method, params }) => {
      const result = await devnet().request(method, params);
      return { jsonrpc: "2.0", id, ...(change(method, result) ?? { result }) };
    });
    void Promise.all(answers).then((all) => reply(all.length === 1 ? all[0] : all));
  });
  return node.url;
}

/** A payment of ours in a final block. */
async function pay() {
  const account = await fundedAccount(devnet());
  const hash = await sendRaw(devnet(), await signPayment(account, { nonce: 0, to: newAddress() }));
  const ours = newAddress();
  await devnet().control("devnet_fund", { address: ours, amount: "5", asset: "USDC" });
  const [block] = await devnet().control("devnet_mine", { blocks: 4 });
  if (block === undefined) throw new Error("nothing was mined");
  return { hash, block, watch: watchFor([ours], [hash]) };
}

const paid = {
  transfers: [{ asset: "USDC", amount: 5n }],
  outcomes: [{ success: true, fee: expect.any(BigInt) }],
};

it("one of three that calls each receipt too large, and makes the block be read from it alone, hides no payment", async () => {
  const { block, watch } = await pay();
  const foreign = {
    address: usdc.contract,
    topics: ["0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"],
    ...{
      data: `0x${"1".padStart(64, "0")}`,
      transactionHash: `0x${"ab".repeat(32)}`,
      blockHash: block.hash,
      logIndex: "0x9",
    },
  };
  let isFirst = true;
  const url = await startNode((method, result) => {
    if (isOfReceipts(method)) return tooLarge;
    if (method !== "eth_getLogs" || !isFirst) return undefined;
    isFirst = false;
    const other = { ...foreign, topics: [...foreign.topics, ...Array(2).fill(`0x${"0".repeat(64)}`)] };
    return { result: [...(result as unknown[]), other] };
  });
  const node = openNode(devnet(), { rpcUrls: [url, devnet().url, devnet().secondUrl] });
  expect(await node.block(block.hash, watch)).toMatchObject(paid);
  isFirst = true;
  expect(await node.finalBlocks(block.number, block.number, watch)).toMatchObject([paid]);
});

it("a receipt that one of three calls too large is waited for while the others do not give it", async () => {
  const { block, watch } = await pay();
  let isSilent = true;
  const refusing = await startNode((method) => (isOfReceipts(method) ? tooLarge : undefined));
  const silent = () => startNode((method) => (isOfReceipts(method) && isSilent ? { id: 0 } : undefined));
  const node = openNode(devnet(), { rpcUrls: [refusing, await silent(), await silent()] });
  await expect(node.block(block.hash, watch)).rejects.toThrow(/too large for 1 of 3 nodes/);
  isSilent = false;
  // After a failure the others pause.
  const read = () => node.block(block.hash, watch).catch(() => undefined);
  expect(await eventually(read, (found) => found !== undefined)).toMatchObject(paid);
});
