import { type BlockHeader, type ChainNode, NodeUnavailableError } from "../../../src/app/chain/chain-node.js";
import { type ModelChain, modelCoin } from "../../harness/chain/model-chain.js";
import { createModelNode, type ModelNodeOptions } from "../../harness/chain/model-node.js";
import type { Random } from "../world/random.js";
import { type OwnWallet, outsideAddress } from "./chain-wallets.js";

/** How far below the head a fork divides: also from blocks that are final. */
const divisionMax = 8;
/** How many blocks the other nodes do not answer for: more than there are between the newest and the final one. */
const outageMax = 15;

interface ForkDeps {
  chain: ModelChain;
  random: Random;
  wallets: readonly OwnWallet[];
  isHealed: () => boolean;
  count: (what: string) => void;
}

/** What one of three nodes follows: the chain, or for a while a fork that no other node has and that can be the longest one. */
export interface Fork {
  /** Mines for the fork, each time after the others have mined. */
  grow: () => void;
  /** What this node has. */
  chain: () => ModelChain;
  /** Whether the two others do not answer. */
  areOthersAway: () => boolean;
}

/** A fork lives for any time, and those that pay to our wallets on it pay nowhere else. */
export function createFork({ chain, random, wallets, isHealed, count }: ForkDeps): Fork {
  let fork: ModelChain | undefined;
  let forks = 0;
  let awayUntil = 0;
  const areOthersAway = () => !isHealed() && chain.head().number < awayUntil;

  /** It is the longest one from the beginning, or can be. */
  function divide(): ModelChain {
    forks += 1;
    const { length } = chain.blocks();
    const from = Math.max(1, length - random.between(0, divisionMax));
    if (from <= chain.final().number) count("forks below finality");
    const divided = chain.branch(from, `x${forks}`);
    for (let blocks = length - from; blocks > 0; blocks--) mineOn(divided);
    return divided;
  }

  function mineOn(divided: ModelChain): void {
    if (random.chance(0.5)) {
      const to = random.pick(wallets).address;
      const amount = BigInt(random.between(100, 5000));
      divided.pay([{ asset: modelCoin, from: outsideAddress, to, amount }]);
    }
    divided.mine(() => random.chance(0.7));
  }

  return {
    areOthersAway,
    chain: () => fork ?? chain,
    grow: () => {
      if (!areOthersAway() && random.chance(0.02)) {
        count("outages of two nodes");
        awayUntil = chain.head().number + random.between(2, outageMax);
      }
      if (fork === undefined && random.chance(isHealed() ? 0 : 0.2)) fork = divide();
      else if (random.chance(isHealed() ? 0.2 : 0.03)) fork = undefined;
      if (fork !== undefined) for (let block = random.between(0, 3); block > 0; block--) mineOn(fork);
    },
  };
}

/**
 * Three nodes as one, of which one follows the fork and says of the final block what the two others say. So its head can be followed, and blocks
 * are read from it that no other has; but what is final two nodes must name. While the two others do not answer, the final block stays where
 * it was.
 */
export function withAFork(node: ChainNode, fork: Fork, options: Omit<ModelNodeOptions, "chain">): ChainNode {
  let agreed: BlockHeader | undefined;
  const forked = () => createModelNode({ ...options, chain: fork.chain() });
  const assertOthers = () => {
    if (fork.areOthersAway()) throw new NodeUnavailableError("two nodes must say so, and one can");
  };
  const byTwo =
    <Given extends unknown[], Answer>(ask: (...given: Given) => Promise<Answer>) =>
    async (...given: Given) => {
      assertOthers();
      return await ask(...given);
    };
  const byOne = <Answer>(ask: (one: ChainNode) => Promise<Answer>) =>
    ask(fork.areOthersAway() ? forked() : node);

  return {
    ...node,
    heads: async () => {
      const heads = fork.areOthersAway() ? undefined : await node.heads();
      if (heads !== undefined && "halt" in heads) return heads;
      const own = await forked().heads();
      if ("halt" in own) return own;
      if (heads !== undefined && heads.final.number > (agreed?.number ?? -1)) agreed = heads.final;
      const isLonger = own.latest.number > (heads?.latest.number ?? -1);
      const latest = heads === undefined || isLonger ? own.latest : heads.latest;
      if (agreed === undefined || latest.number < agreed.number)
        throw new NodeUnavailableError("two nodes must agree about the final block");
      return { latest, final: agreed };
    },
    block: async (hash, watch) => {
      const block = fork.areOthersAway() ? undefined : await node.block(hash, watch);
      return block ?? (await forked().block(hash, watch));
    },
    header: (number) => byOne((one) => one.header(number)),
    headersAt: async (number) => {
      const honest = fork.areOthersAway() ? [] : await node.headersAt(number);
      const own = await forked().headersAt(number);
      return [...new Map([...honest, ...own].map((header) => [header.hash, header])).values()];
    },
    finalHeaders: byTwo(node.finalHeaders),
    finalBlocks: byTwo(node.finalBlocks),
    balances: byTwo(node.balances),
    noncesAt: byTwo(node.noncesAt),
    findNonceUse: byTwo(node.findNonceUse),
    estimate: byTwo(node.estimate),
    market: () => byOne((one) => one.market()),
    send: async (bytes) => {
      const answers = fork.areOthersAway() ? undefined : await node.send(bytes);
      const own = await forked().send(bytes);
      return answers ?? own;
    },
  };
}
