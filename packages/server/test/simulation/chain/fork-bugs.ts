import type { BlockRef } from "../../../src/app/chain/chain-node.js";
import type { FollowedBlock } from "../../../src/app/chain/chain-store.js";
import { chainBlocks, numberKey } from "../database/simulated-chain-tables.js";
import type { SimulatedDatabase } from "../database/simulated-database.js";
import type { ChainBug } from "./chain-bug.js";

/** The block that was followed with the number of this one, if there is one. */
function asFollowed<Block extends BlockRef>({ tables }: SimulatedDatabase, block: Block): Block {
  const followed = tables.get(chainBlocks.name)?.get(numberKey(block.number)) as FollowedBlock | undefined;
  return followed === undefined ? block : { ...block, ...followed };
}

/** What can go wrong when a node follows a fork of its own. */
export const forkBugs: readonly ChainBug[] = [
  {
    name: "what was misread is settled",
    breaks: "what the larger group of nodes contradicts is read again",
    world: "outvoted",
    says: "was credited 1 times, and is 0 times on the chain",
    node: (node) => ({
      ...node,
      heads: async (...given) => {
        const heads = await node.heads(...given);
        return "halt" in heads ? heads : { latest: heads.latest, final: heads.final };
      },
    }),
  },
  {
    name: "what is written of a block is not confirmed",
    breaks: "no node alone has money credited, whatever else is read of the same block",
    world: "lying",
    says: "was credited 1 times, and is 0 times on the chain",
    node: (node) => ({ ...node, confirmLater: () => undefined }),
  },
  {
    name: "what was followed is settled by its number",
    firstSeed: 57,
    breaks: "only blocks that two nodes name are settled",
    world: "forked",
    says: "was credited 1 times, and is 0 times on the chain",
    node: (node, { database }) => ({
      ...node,
      heads: async () => {
        const heads = await node.heads();
        return "halt" in heads ? heads : { ...heads, final: asFollowed(database, heads.final) };
      },
      finalHeaders: async (numbers) =>
        (await node.finalHeaders(numbers)).map((header) => asFollowed(database, header)),
    }),
  },
];
