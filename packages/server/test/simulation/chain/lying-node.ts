import {
  type BlockHeader,
  type ChainBlock,
  type ChainNode,
  NodeUnavailableError,
  type ObservedTransfer,
} from "../../../src/app/chain/chain-node.js";
import { type ModelChain, modelCoin } from "../../harness/chain/model-chain.js";
import type { Random } from "../world/random.js";
import { type OwnWallet, outsideAddress } from "./chain-wallets.js";

interface LyingDeps {
  chain: ModelChain;
  random: Random;
  wallets: readonly OwnWallet[];
  isLying: () => boolean;
  /** It only leaves out payments, so that a lie is not contradicted, and no block is read again for another one. */
  isSilent: boolean;
  count: (what: string) => void;
  /** Whether both nodes are asked about what one of them has said of a final block. */
  asksBoth: boolean;
}

/** How many answers come from others, after what a node has said was contradicted by the two others. */
const passedOverMax = 40;

/**
 * Three nodes as one, of which one lies about what is in blocks. When a block with a lie is final, the two others contradict it: nothing that was read
 * of blocks that are not settled is sure, and another node is asked first for a while. They contradict what it leaves out only when they are asked for
 * it.
 */
export function withAnOutvotedLiar(node: ChainNode, deps: Omit<LyingDeps, "asksBoth">): ChainNode {
  const { chain, random, isLying, count } = deps;
  const { kept, lies, confirmLater } = keepWritten();
  let agreed: BlockHeader | undefined;
  let misreads = 0;
  let passedOver = 0;

  function lieAbout(block: ChainBlock): ChainBlock | undefined {
    const { isSilent } = deps;
    if (!isLying() || --passedOver > 0 || (!isSilent && !random.chance(0.1))) return undefined;
    if (isSilent && block.outcomes.length === 0) return undefined;
    count("lies of one of three");
    const manners = isSilent ? [omit] : [invent, exaggerate, omit];
    return random.pick(manners)(block, { ...deps, asksBoth: true });
  }

  function passOver(most = passedOverMax): void {
    misreads += 1;
    passedOver = random.between(0, most);
  }

  return {
    ...node,
    isAlone: false,
    heads: async () => {
      const heads = await node.heads();
      if ("halt" in heads) return heads;
      const isDue = ([hash, number]: [string, number]) =>
        number <= heads.final.number && chain.blocks()[number]?.hash === hash;
      if ([...kept].some(isDue)) {
        kept.clear();
        passOver();
        count("misread blocks");
      } else if (heads.final.number > (agreed?.number ?? -1)) agreed = heads.final;
      if (agreed === undefined) throw new NodeUnavailableError("the final block is to be confirmed");
      return { ...heads, final: agreed, misreads };
    },
    block: async (hash, watch) => {
      const block = await node.block(hash, watch);
      const lie = block === undefined ? undefined : lieAbout(block);
      if (lie !== undefined && !isOmission(lie, block)) lies.add(lie);
      return lie ?? block;
    },
    confirmLater,
    finalBlocks: async (from, to, watch) => {
      const blocks = await node.finalBlocks(from, to, watch);
      const said = blocks.map((block) => lieAbout(block) ?? block);
      const lie = said.find((block, index) => block !== blocks[index] && !isOmission(block, blocks[index]));
      if (lie === undefined) return said;
      passedOver = random.between(0, passedOverMax);
      throw new NodeUnavailableError(`the others contradict what is in ${lie.hash}`);
    },
    findIncluded: async (...given) => {
      const included = await node.findIncluded(...given);
      if (included.length === 0) return included;
      count("payments that one of three has left out");
      kept.clear();
      passOver(passedOverMax / 4);
      return included;
    },
  };
}

/**
 * Two nodes as one, of which one lies about what is in blocks and which of them is final. What it says of a block is believed until the block is
 * final. Then both are asked, as `rails/evm/node/second-opinion.ts` does, and a contradiction is a reason to halt. A process that ends forgets
 * what it was to ask about.
 */
export function withALiar(node: ChainNode, deps: LyingDeps): ChainNode {
  const { chain, random, isLying, count, asksBoth } = deps;
  const { kept, lies, confirmLater } = keepWritten();
  let contradiction: string | undefined;
  const disagreement = (hash: string) => `Two nodes disagree about the final block ${hash}.`;

  function lieAbout(block: ChainBlock): ChainBlock | undefined {
    if (!isLying() || !random.chance(deps.isSilent ? 0.4 : 0.1)) return undefined;
    if (deps.isSilent && block.outcomes.length === 0) return undefined;
    count("lies");
    return deps.isSilent ? omit(block, deps) : random.pick([invent, exaggerate, deny])(block, deps);
  }

  /** The first contradiction about a block that is final and part of the chain. */
  function findContradiction(finalNumber: number): string | undefined {
    const found = contradiction;
    contradiction = undefined;
    if (found !== undefined) return found;
    for (const [hash, number] of kept) {
      if (number > finalNumber) continue;
      kept.delete(hash);
      if (chain.blocks()[number]?.hash === hash) return disagreement(hash);
    }
    return isLying() && random.chance(0.01) ? disagreement("that is the last one") : undefined;
  }

  return {
    ...node,
    isAlone: false,
    heads: async () => {
      const heads = await node.heads();
      if ("halt" in heads || !asksBoth) return heads;
      const halt = findContradiction(heads.final.number);
      return halt === undefined ? heads : { halt };
    },
    block: async (hash, watch) => {
      const block = await node.block(hash, watch);
      const lie = block === undefined ? undefined : lieAbout(block);
      if (lie !== undefined && !isOmission(lie, block)) lies.add(lie);
      return lie ?? block;
    },
    confirmLater,
    finalBlocks: async (from, to, watch) => {
      const blocks = await node.finalBlocks(from, to, watch);
      const said = blocks.map((block) => lieAbout(block) ?? block);
      const lie = said.find((block, index) => block !== blocks[index] && !isOmission(block, blocks[index]));
      if (lie === undefined || !asksBoth) return said;
      contradiction = disagreement(lie.hash);
      throw new NodeUnavailableError(contradiction);
    },
    findIncluded: async (...given) => (isLying() ? [] : await node.findIncluded(...given)),
    // Both are asked for all of a block, and one of them leaves out the transaction.
    findNonceUse: async (...given) => {
      const use = await node.findNonceUse(...given);
      if (use === undefined || !isLying() || !asksBoth || random.chance(0.5)) return use;
      contradiction = disagreement(use.block.hash);
      throw new NodeUnavailableError(contradiction);
    },
  };
}

/** What of that which was read is written, and confirmed when it is final. */
function keepWritten() {
  const lies = new WeakSet<ChainBlock>();
  /** The numbers of blocks that were written with a lie, by hash. */
  const kept = new Map<string, number>();
  const confirmLater: ChainNode["confirmLater"] = (blocks) => {
    for (const block of blocks) {
      kept.delete(block.hash);
      if (lies.has(block)) kept.set(block.hash, block.number);
    }
  };
  return { lies, kept, confirmLater };
}

/** Nobody is asked about what is not there. */
function isOmission(lie: ChainBlock, block: ChainBlock | undefined): boolean {
  return block !== undefined && lie.outcomes.length < block.outcomes.length;
}

/** Payments of ours that were made are not in the block, as if they had never been. What they pay to another tenant is a deposit, and is left. */
function omit(block: ChainBlock, deps: LyingDeps): ChainBlock {
  const { wallets, count } = deps;
  const tenantOf = (address: string | null) => wallets.find((one) => one.address === address)?.tenantId;
  const isWithin = ({ from, to }: ObservedTransfer) =>
    tenantOf(to) === undefined || tenantOf(from) === tenantOf(to);
  const omitted = block.outcomes.filter(({ transfers }) => transfers.every(isWithin)).map(({ hash }) => hash);
  if (omitted.length === 0) return deps.isSilent ? block : invent(block, deps);
  count("omissions");
  const isLeft = ({ hash }: { hash: string }) => !omitted.includes(hash);
  return { ...block, transfers: block.transfers.filter(isLeft), outcomes: block.outcomes.filter(isLeft) };
}

/** A payment to one of our wallets that nobody has made. */
function invent(block: ChainBlock, { random, wallets }: LyingDeps): ChainBlock {
  const transfer: ObservedTransfer = {
    ...{ hash: `0xlie${block.hash}`, ordinal: 0, asset: modelCoin, from: outsideAddress },
    ...{ to: random.pick(wallets).address, amount: BigInt(random.between(100, 5000)) },
  };
  return { ...block, transfers: [...block.transfers, transfer] };
}

/** More than was paid. */
function exaggerate(block: ChainBlock, deps: LyingDeps): ChainBlock {
  if (block.transfers.length === 0) return invent(block, deps);
  const transfers = block.transfers.map((one) => ({ ...one, amount: one.amount * 1000n + 1n }));
  return { ...block, transfers };
}

/** Payments of ours that were made are said to have failed. */
function deny(block: ChainBlock, deps: LyingDeps): ChainBlock {
  if (!block.outcomes.some(({ success }) => success)) return invent(block, deps);
  const hashes = new Set(block.outcomes.map(({ hash }) => hash));
  return {
    ...block,
    transfers: block.transfers.filter(({ hash }) => !hashes.has(hash)),
    outcomes: block.outcomes.map((one) => ({ ...one, success: false, transfers: [] })),
  };
}
