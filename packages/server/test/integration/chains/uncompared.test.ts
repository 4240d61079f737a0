import { afterEach, beforeEach, expect, it } from "vitest";
import { type ChainNode, NodeUnavailableError } from "../../../src/app/chain/chain-node.js";
import { type ChainService, startChainService } from "../../harness/chain/chain-service.js";
import { balanceOf, modelCoin } from "../../harness/chain/model-chain.js";
import { eventually } from "../../harness/eventually.js";

const outside = `0x${"e".repeat(40)}`;

let service: ChainService;
beforeEach(async () => {
  service = await startChainService();
});
afterEach(() => service.stop());

it("a node without the state of final blocks delays only the comparison with the books", async () => {
  let isPruned = true;
  let asked = 0;
  const node: ChainNode = {
    ...service.node,
    balances: async (...given) => {
      asked += 1;
      if (isPruned) throw new NodeUnavailableError("missing trie node");
      return await service.node.balances(...given);
    },
  };
  let positions = 0;
  const store = {
    ...service.store,
    readPosition: (network: string) => {
      positions += 1;
      return service.store.readPosition(network);
    },
  };
  const mine = (blocks: number) => {
    for (let block = 0; block < blocks; block++) service.chain.mine(() => true);
  };
  service.startDriver({ node, store });
  await eventually(
    () => service.store.readPosition("eip155:31337"),
    (position) => position !== undefined,
  );
  const wallet = await service.createWallet(await service.createTenant());
  const [transfer, hidden] = [1_000_000_000n, 5n].map((amount) => ({
    ...{ asset: modelCoin, from: outside, to: wallet.address, amount },
  })) as [Parameters<typeof service.chain.pay>[0][number], Parameters<typeof service.chain.pay>[0][number]];
  service.chain.pay([transfer], [hidden]);
  mine(5);
  await eventually(
    () => service.booked(wallet, modelCoin),
    (booked) => booked === transfer.amount,
  );
  const begun = positions;
  const id = await service.pay(wallet, outside, modelCoin, 7n);
  await eventually(
    async () => service.chain.pool().length,
    (count) => count === 1,
  );
  mine(5);
  await eventually(
    () => service.read(id),
    ({ state }) => state === "completed",
  );
  // The chain was followed without beginning again, and the node was not asked at every block.
  expect(positions).toBe(begun);
  expect(asked).toBeLessThan(10);
  expect(service.errors.length).toBe(asked);
  isPruned = false;
  await eventually(
    () => service.booked(wallet, modelCoin),
    (booked) => booked === balanceOf(service.chain.final().balances, wallet.address, modelCoin),
  );
});
