import type { ChainBlock, ChainNode, ObservedOutcome } from "../../../src/app/chain/chain-node.js";
import type { ChainStore, ChainUnit } from "../../../src/app/chain/chain-store.js";
import type { Signer } from "../../../src/app/chain/signer.js";
import type { ModelChain } from "../../harness/chain/model-chain.js";
import type { SimulatedDatabase } from "../database/simulated-database.js";
import type { Random } from "../world/random.js";
import type { ChainWorldKind } from "./chain-worlds.js";

/** A mistake that somebody could make, put between the driver and its world. The driver itself is not touched. */
export interface ChainBug {
  name: string;
  /** Which promise it breaks. */
  breaks: string;
  /** The world that it is looked for in; the usual one unless it is given. */
  world?: ChainWorldKind;
  /** One that has caught it; 1 unless it is given. */
  firstSeed?: number;
  /** A part of what the auditor must say about it; anything else that goes wrong does not count. */
  says: string;
  node?: (node: ChainNode, around: BugSurroundings) => ChainNode;
  signer?: (signer: Signer, around: BugSurroundings) => Partial<Signer>;
  store?: (store: ChainStore, around: BugSurroundings) => ChainStore;
  /** A cancellation ends a payment at once. */
  cancelsAtOnce?: boolean;
  /** The operator does not look whether payments that wait are on the chain. */
  paysWaiting?: boolean;
  /** What one of two nodes says of a final block is not compared. */
  believesOneNode?: boolean;
}

interface BugSurroundings {
  chain: ModelChain;
  random: Random;
  database: SimulatedDatabase;
  isHealed: () => boolean;
}

/** Changes what blocks say. */
export function withBlocks(
  change: (block: ChainBlock, around: BugSurroundings) => ChainBlock,
): Pick<ChainBug, "node"> {
  return {
    node: (node, around) => ({
      ...node,
      block: async (hash, watch) => {
        const block = await node.block(hash, watch);
        return block === undefined ? undefined : change(block, around);
      },
      finalBlocks: async (from, to, watch) =>
        (await node.finalBlocks(from, to, watch)).map((block) => change(block, around)),
    }),
  };
}

export function withOutcomes(change: (outcome: ObservedOutcome, around: BugSurroundings) => ObservedOutcome) {
  return withBlocks((block, around) => ({
    ...block,
    outcomes: block.outcomes.map((outcome) => change(outcome, around)),
  }));
}

export function withUnit(
  disguise: (unit: ChainUnit, around: BugSurroundings) => Partial<ChainUnit>,
): Pick<ChainBug, "store"> {
  return {
    store: (store, around) => ({
      ...store,
      unitOfWork: (position, work) =>
        store.unitOfWork(position, (unit) => work({ ...unit, ...disguise(unit, around) })),
    }),
  };
}
