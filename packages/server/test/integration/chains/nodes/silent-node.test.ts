import { afterAll, expect, it } from "vitest";
import {
  closeNodes,
  devnetTokens,
  fundedAccount,
  newAddress,
  openNode,
  useDevnet,
  watchFor,
} from "../../../harness/chain/devnet.js";
import { startHostileNode } from "../../../harness/chain/hostile-node.js";

const devnet = useDevnet();
afterAll(closeNodes);

it.each([0, 1, 2])("one of three nodes that never answers, at place %s, holds nothing up", async (place) => {
  const { url, secondUrl } = devnet();
  const silent = await startHostileNode(() => undefined);
  const rpcUrls = [url, secondUrl].toSpliced(place, 0, silent.url);
  // What waits for it does not end before the test does.
  const node = openNode(devnet(), { rpcUrls }, { timeoutMs: 600_000 });
  const account = await fundedAccount(devnet(), { USDC: 9n });
  const ours = newAddress();
  const hash = await devnet().control("devnet_fund", { address: ours, amount: "7", asset: "USDC" });
  const [block] = await devnet().control("devnet_mine", { blocks: 5 });
  if (block === undefined) throw new Error("no block");
  const heads = await node.heads();
  expect(heads).toMatchObject({ latest: { number: block.number + 4 }, final: { number: block.number + 1 } });
  const watch = watchFor([ours]);
  const [read] = await node.finalBlocks(block.number, block.number, watch);
  expect(read?.transfers).toMatchObject([{ hash, amount: 7n }]);
  const contract = devnetTokens[0]?.contract as string;
  const draft = { from: account.address.toLowerCase(), contract, destination: ours, amount: 5n };
  expect(await node.estimate([draft])).toMatchObject([{ dataFee: 0n }]);
  expect(await node.market()).toMatchObject({ maxPriorityFeePerGas: expect.any(BigInt) });
  expect(await node.balances([{ address: ours, contract }], block)).toEqual([7n]);
  expect(await node.heads()).toMatchObject({ final: { number: block.number + 1 } });
  expect(silent.requests.length).toBeLessThan(8);
});
