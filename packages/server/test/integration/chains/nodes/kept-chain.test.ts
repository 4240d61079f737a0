import { expect, it } from "vitest";
import { type ChainNode, NodeUnavailableError } from "../../../../src/app/chain/chain-node.js";
import { startChainService } from "../../../harness/chain/chain-service.js";
import { modelNetwork } from "../../../harness/chain/model-network.js";
import { eventually } from "../../../harness/eventually.js";

it("blocks that were followed are not read again after steps in which too few nodes confirmed what is final", async () => {
  const service = await startChainService();
  try {
    let isUnavailable = false;
    let failures = 0;
    const readAgain: number[] = [];
    const node: ChainNode = {
      ...service.node,
      finalHeaders: async (numbers) => {
        if (!isUnavailable) return await service.node.finalHeaders(numbers);
        failures += 1;
        throw new NodeUnavailableError("Two nodes must confirm a block, which is final, and none can.");
      },
      finalBlocks: async (from, to, watch) => {
        readAgain.push(from);
        return await service.node.finalBlocks(from, to, watch);
      },
    };
    const position = () => service.store.readPosition(modelNetwork);
    const mineAndFollow = async (blocks: number) => {
      for (let block = 0; block < blocks; block++) service.chain.mine(() => true);
      await eventually(position, (one) => one?.tail.at(-1)?.hash === service.chain.head().hash);
    };
    service.startDriver({ node });
    await eventually(position, (one) => one !== undefined);
    await mineAndFollow(2);
    readAgain.length = 0;
    isUnavailable = true;
    for (let block = 0; block < 5; block++) await mineAndFollow(1);
    await eventually(
      async () => failures,
      (count) => count > 3,
    );
    isUnavailable = false;
    await mineAndFollow(1);
    await eventually(position, (one) => one?.settledNumber === service.chain.final().number);
    expect(readAgain).toEqual([]);
    expect(service.errors.every((error) => error instanceof NodeUnavailableError)).toBe(true);
  } finally {
    await service.stop();
  }
});
