import { afterAll, expect, it } from "vitest";
import {
  closeNodes,
  devnetTokens,
  fundedAccount,
  newAddress,
  openNode,
  useDevnet,
} from "../../../harness/chain/devnet.js";

const devnet = useDevnet();
afterAll(closeNodes);

it("a node that lags far behind does not fail the payments of a process that has just started", async () => {
  await devnet().control("devnet_mine", { blocks: 20 });
  const account = await fundedAccount(devnet(), { USDC: 100n });
  await devnet().control("devnet_mine", { blocks: 10 });
  const contract = devnetTokens.find(({ asset }) => asset === "USDC")?.contract as string;
  const draft = { from: account.address.toLowerCase(), contract, destination: newAddress(), amount: 5n };
  const running = openNode(devnet());
  const heads = await running.heads();
  if ("halt" in heads) throw new Error(heads.halt);
  const honest = await running.estimate([draft]);
  expect(honest).toMatchObject([{ dataFee: 0n }]);
  await devnet().control("devnet_setConditions", { node: "second", conditions: { lagBlocks: 15 } });
  const started = openNode(devnet());
  // The books have the final block of before.
  await started.heads(heads.final.number);
  expect(await started.estimate([draft])).toEqual(honest);
});
