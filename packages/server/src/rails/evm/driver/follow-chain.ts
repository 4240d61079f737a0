import type { BlockHeader, BlockRef, ChainBlock } from "../../../app/chain/chain-node.js";
import type { FollowedBlock } from "../../../app/chain/chain-store.js";
import { applyBlocks } from "./apply-blocks.js";
import {
  type DriverContext,
  type FollowedChain,
  haltNetwork,
  positionOf,
  settledOf,
  tipOf,
  watchOf,
} from "./driver-context.js";
import { leaveBlocks } from "./leave-blocks.js";

/** How many final blocks one request asks for. */
const rangeMax = 32;
/** A walk from the head back to a block that is known. What is older is final, and read in ranges. */
const walkMax = 512;

/**
 * Follows the chain to its head. Returns the last block that is certainly final and that the chain was followed to; undefined if there is
 * nothing new. Blocks are linked by the hashes of their parents, so nothing is left out and nothing is counted twice.
 */
export async function followChain(
  context: DriverContext,
  chain: FollowedChain,
  { latest, final }: { latest: BlockHeader; final: BlockHeader },
): Promise<BlockRef | undefined> {
  const caughtUpTo = await followFinal(context, chain, final);
  await followHead(context, chain, latest);
  const known = chain.tail.find(({ number }) => number === final.number);
  // Both heads may come from different nodes. If the final block is on another branch, the next walk finds out.
  return known?.hash === final.hash ? known : caughtUpTo;
}

/** Reads final blocks that the chain was not followed to yet, in ranges. */
async function followFinal(
  context: DriverContext,
  chain: FollowedChain,
  final: BlockRef,
): Promise<BlockRef | undefined> {
  let last: BlockRef | undefined;
  while (tipOf(chain).number < final.number) {
    const from = tipOf(chain).number + 1;
    const to = Math.min(final.number, from + rangeMax - 1);
    const blocks = await context.node.finalBlocks(from, to, watchOf(context));
    const [first] = blocks;
    if (first === undefined) return last;
    if (first.parentHash === tipOf(chain).hash) {
      assertLinked(blocks);
      await applyBlocks(context, chain, blocks);
      last = tipOf(chain);
    } else await leaveBlocks(context, chain, await findFork(context, chain));
  }
  return last;
}

/** The last block that the final chain and the followed one have in common. */
async function findFork(context: DriverContext, chain: FollowedChain): Promise<number> {
  for (const { number, hash } of chain.tail.toReversed()) {
    const header = await context.node.header(number);
    if (header?.hash === hash) return number;
  }
  return await haltBelowFinality(context, chain);
}

/** Walks back from the head to a block that is known, and then applies what is new. */
async function followHead(context: DriverContext, chain: FollowedChain, latest: BlockRef): Promise<void> {
  // A node that lags has an older head of the same chain.
  if (latest.number <= settledOf(chain).number || isKnown(chain, latest)) return;
  const added: ChainBlock[] = [];
  let next: BlockRef = latest;
  while (!isKnown(chain, next)) {
    if (next.number <= settledOf(chain).number) return void (await haltBelowFinality(context, chain));
    if (added.length === walkMax) return;
    const block = await context.node.block(next.hash, watchOf(context));
    // It has left the chain, or the node that has it does not answer. The next step begins with another head.
    if (block === undefined) return;
    if (block.hash !== next.hash || block.number !== next.number)
      throw new Error(`a node has answered with the block ${block.hash} when asked for ${next.hash}`);
    added.unshift(block);
    next = { number: block.number - 1, hash: block.parentHash };
  }
  if (next.number < tipOf(chain).number) await leaveBlocks(context, chain, next.number);
  await applyBlocks(context, chain, added);
}

function isKnown({ tail }: FollowedChain, { number, hash }: BlockRef): boolean {
  const first = tail[0]?.number ?? 0;
  return tail[number - first]?.hash === hash;
}

function assertLinked(blocks: readonly FollowedBlock[]): void {
  for (const [index, block] of blocks.entries()) {
    const before = blocks[index - 1];
    if (before !== undefined && (block.parentHash !== before.hash || block.number !== before.number + 1))
      throw new Error(`the block ${block.hash} does not follow ${before.hash}`);
  }
}

function haltBelowFinality(context: DriverContext, chain: FollowedChain): Promise<never> {
  const { number, hash } = settledOf(chain);
  return haltNetwork(
    context,
    positionOf(chain),
    "REORGANISED_BELOW_FINALITY",
    `The block ${number} (${hash}) was final and is no longer part of the chain.`,
  );
}
