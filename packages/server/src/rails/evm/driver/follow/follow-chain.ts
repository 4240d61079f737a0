import type { BlockRef } from "../../../../app/chain/chain-node.js";
import type { FollowedBlock } from "../../../../app/chain/chain-store.js";
import { applyBlocks } from "../apply-blocks.js";
import {
  type DriverContext,
  type FollowContext,
  type FollowedChain,
  followedAt,
  haltNetwork,
  positionOf,
  settledOf,
  tipOf,
  watchOf,
} from "../driver-context.js";
import { leaveBlocks } from "../leave-blocks.js";

/** How many final blocks one request asks for, and how many requests one step makes. */
const rangeMax = 32;
const rangesMax = 8;

interface FollowedFinal {
  /** The last block up to which the final chain was followed: the final block, or one before it. */
  final: BlockRef;
  /** Whether there are more final blocks to follow at once. */
  isBehind: boolean;
}

/**
 * Follows the chain up to the final block: what was followed of another branch is left, and blocks that were not followed yet are read in ranges,
 * some in each step. After an outage there can be a day of them, and payments must be sent and blocks settled in between.
 */
export async function followFinal(
  context: FollowContext,
  chain: FollowedChain,
  final: BlockRef,
  endsMs: number,
): Promise<FollowedFinal> {
  const followed = followedAt(chain, final.number);
  if (followed !== undefined && followed.hash !== final.hash)
    await leaveOtherBranch(context, chain, final.number);
  for (let range = 0; tipOf(chain).number < final.number; range++) {
    const isLate = range > 0 && context.monotonicMs() >= endsMs;
    if (range === rangesMax || isLate) return { final: tipOf(chain), isBehind: true };
    await chain.keepLease();
    const from = tipOf(chain).number + 1;
    const to = Math.min(final.number, from + rangeMax - 1);
    const blocks = await context.node.finalBlocks(from, to, watchOf(context));
    const [first] = blocks;
    if (first === undefined) return { final: tipOf(chain), isBehind: false };
    if (first.parentHash === tipOf(chain).hash) {
      assertLinked(blocks);
      await applyBlocks(context, chain, blocks, { isConfirmed: true });
    } else await leaveOtherBranch(context, chain, tipOf(chain).number);
  }
  return { final: followedAt(chain, final.number) ?? settledOf(chain), isBehind: false };
}

/**
 * A node can have been followed on a branch that the others do not have. Its blocks leave like those of any reorganisation, down to the last one
 * that is also on the final chain. A branch below the settled block halts the network: what is settled cannot be taken back.
 */
async function leaveOtherBranch(context: DriverContext, chain: FollowedChain, upTo: number): Promise<void> {
  const isFinal = async (number: number) => {
    await chain.keepLease();
    const [header] = await context.node.finalHeaders([number]);
    return header?.hash === followedAt(chain, number)?.hash;
  };
  let common = settledOf(chain).number;
  if (!(await isFinal(common))) await haltBelowFinality(context, chain);
  for (let differing = upTo + 1; differing - common > 1; ) {
    const middle = Math.floor((common + differing) / 2);
    if (await isFinal(middle)) common = middle;
    else differing = middle;
  }
  await leaveBlocks(context, chain, common);
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
