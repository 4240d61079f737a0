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

/** How many final blocks one request asks for, and how many requests one step makes. */
const rangeMax = 32;
const rangesMax = 8;
/** How many blocks of the head one step adds, and how many a walk back from them may read to find a block that is known. */
const aheadMax = 128;
const walkMax = 512;

interface Followed {
  /** The last block that is certainly final and that the chain was followed to; undefined if there is nothing new. */
  final: BlockRef | undefined;
  /** Whether there are more blocks to follow at once. */
  isBehind: boolean;
}

/**
 * Follows the chain towards its head, some blocks in each step: after an outage there can be a day of them, and payments must be sent and
 * blocks settled in between. Blocks are linked by the hashes of their parents, so nothing is left out and nothing is counted twice.
 */
export async function followChain(
  context: DriverContext,
  chain: FollowedChain,
  { latest, final }: { latest: BlockHeader; final: BlockHeader },
): Promise<Followed> {
  const caughtUp = await followFinal(context, chain, final);
  if (caughtUp.isBehind) return caughtUp;
  // Of the blocks up to the final one, two nodes have confirmed those that were read before it was asked for. What a walk reads now is confirmed
  // with the next heads, so it is not settled in this step.
  const known = chain.tail.find(({ number }) => number === final.number);
  const isBehind = await followHead(context, chain, latest);
  // Both heads may come from different nodes. If the final block is on another branch, the next walk finds out.
  const isFinal = known !== undefined && known.hash === final.hash && isKnown(chain, known);
  return { final: isFinal ? known : caughtUp.final, isBehind };
}

/** Reads final blocks that the chain was not followed to yet, in ranges. */
async function followFinal(context: DriverContext, chain: FollowedChain, final: BlockRef): Promise<Followed> {
  let last: BlockRef | undefined;
  for (let range = 0; tipOf(chain).number < final.number; range++) {
    if (range === rangesMax) return { final: last, isBehind: true };
    await chain.keepLease();
    const from = tipOf(chain).number + 1;
    const to = Math.min(final.number, from + rangeMax - 1);
    const blocks = await context.node.finalBlocks(from, to, watchOf(context));
    const [first] = blocks;
    if (first === undefined) break;
    if (first.parentHash === tipOf(chain).hash) {
      assertLinked(blocks);
      await applyBlocks(context, chain, blocks);
      last = tipOf(chain);
    } else await leaveBlocks(context, chain, await findFork(context, chain));
  }
  return { final: last, isBehind: false };
}

/** The last block that the final chain and the followed one have in common. */
async function findFork(context: DriverContext, chain: FollowedChain): Promise<number> {
  for (const { number, hash } of chain.tail.toReversed()) {
    const header = await context.node.header(number);
    if (header?.hash === hash) return number;
  }
  return await haltBelowFinality(context, chain);
}

/** Follows the head, or blocks on the way to it if it is far. Returns whether there are more. */
async function followHead(context: DriverContext, chain: FollowedChain, latest: BlockRef): Promise<boolean> {
  // A node that lags has an older head of the same chain.
  if (latest.number <= settledOf(chain).number || isKnown(chain, latest)) return false;
  const isFar = latest.number - tipOf(chain).number > aheadMax;
  const walk =
    (isFar ? undefined : await walkBack(context, chain, latest)) ?? (await walkAhead(context, chain));
  if (walk === undefined) return false;
  if (walk.known < tipOf(chain).number) await leaveBlocks(context, chain, walk.known);
  await applyBlocks(context, chain, walk.added);
  return isFar;
}

interface Walk {
  /** The number of the block that the walk has ended at. */
  known: number;
  added: ChainBlock[];
}

/**
 * The head is too far for one walk, or a block that only one node claims to have: goes to a block above the last one that was followed. A node can
 * also make up headers on the way to such a head, from which no walk begins: then those of the others count, and blocks that are nearer.
 */
async function walkAhead(context: DriverContext, chain: FollowedChain): Promise<Walk | undefined> {
  for (let ahead = aheadMax; ahead >= 1; ahead /= 2) {
    await chain.keepLease();
    for (const header of await context.node.headersAt(tipOf(chain).number + ahead)) {
      const walk = await walkBack(context, chain, header);
      if (walk !== undefined) return walk;
    }
  }
  return undefined;
}

/** Walks back from a block to one that is known. Undefined if it has left the chain, or the node that has it does not answer. */
async function walkBack(
  context: DriverContext,
  chain: FollowedChain,
  start: BlockRef,
): Promise<Walk | undefined> {
  const added: ChainBlock[] = [];
  let next = start;
  while (!isKnown(chain, next)) {
    if (next.number <= settledOf(chain).number) return await haltBelowFinality(context, chain);
    if (added.length === walkMax) return undefined;
    await chain.keepLease();
    const block = await context.node.block(next.hash, watchOf(context));
    if (block === undefined) return undefined;
    if (block.hash !== next.hash || block.number !== next.number)
      throw new Error(`a node has answered with the block ${block.hash} when asked for ${next.hash}`);
    added.push(block);
    next = { number: block.number - 1, hash: block.parentHash };
  }
  return { known: next.number, added: added.reverse() };
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
