import type { BlockRef, ChainBlock } from "../../../../app/chain/chain-node.js";
import { applyBlocks } from "../apply-blocks.js";
import { type FollowContext, type FollowedChain, isFollowed, tipOf, watchOf } from "../driver-context.js";
import { leaveBlocks } from "../leave-blocks.js";
import { createReadAhead } from "./read-ahead.js";

/** How many blocks of the head one step adds, and how many a walk back from them may read to find a block that is known. */
export const aheadMax = 128;
const walkMax = 512;
/** A walk that takes longer is given up, and the next one begins nearer to what is known: the lease and payments do not wait for it. */
const walkBudgetMs = 5000;
/** What has taken so long for nothing is slow. */
const slowMs = 1000;

/** Where walks back end. */
interface WalkBounds {
  /** No walk goes below it: another branch there is not the one that nodes have agreed on. */
  final: number;
  /** When the step has no more time. */
  endsMs: number;
}

/**
 * Follows the head above the final block, in walks that nodes answer in time, as many as there is time for. Blocks are linked by the hashes of
 * their parents, so nothing is left out and nothing is counted twice. Returns whether there are more.
 */
export async function followHead(
  context: FollowContext,
  chain: FollowedChain,
  latest: BlockRef,
  bounds: WalkBounds,
): Promise<boolean> {
  for (let added = 0; added < aheadMax; ) {
    // A node that lags has an older head of the same chain.
    if (latest.number <= bounds.final || isFollowed(chain, latest)) return false;
    if (added > 0 && context.monotonicMs() >= bounds.endsMs - walkBudgetMs) return true;
    const walk =
      (await walkFromLatest(context, chain, latest, bounds)) ??
      (await walkAhead(context, chain, bounds, added === 0));
    if (walk === undefined) return context.monotonicMs() >= bounds.endsMs;
    if (walk.known < tipOf(chain).number) await leaveBlocks(context, chain, walk.known);
    context.node.confirmLater(walk.added, watchOf(context).tokens);
    await applyBlocks(context, chain, walk.added, { isConfirmed: false });
    added += walk.added.length;
  }
  return true;
}

interface Walk {
  /** The number of the block that the walk has ended at. */
  known: number;
  added: ChainBlock[];
}

async function walkFromLatest(
  context: FollowContext,
  chain: FollowedChain,
  latest: BlockRef,
  bounds: WalkBounds,
): Promise<Walk | undefined> {
  if (latest.number - tipOf(chain).number > chain.aheadInTime) return undefined;
  const begunMs = context.monotonicMs();
  const walk = await walkBack(context, chain, latest, bounds);
  if (walk === undefined && context.monotonicMs() - begunMs >= slowMs) halve(chain, chain.aheadInTime);
  return walk;
}

/**
 * The head is too far for one walk, or a block that only one node claims to have, or of a branch that the final block is not on: goes to a block
 * above the last one that was followed. A node can also make up headers on the way to such a head, from which no walk begins: then those of the
 * others count, and blocks that are nearer. It can be slow with each of them too. So what has taken long and led to nothing is not tried again at
 * once, and the next block is tried, as most nodes name it, although there is no more time: unless something was added in this step.
 */
async function walkAhead(
  context: FollowContext,
  chain: FollowedChain,
  bounds: WalkBounds,
  isNeeded: boolean,
): Promise<Walk | undefined> {
  const isLate = () => context.monotonicMs() >= bounds.endsMs;
  for (let ahead = chain.aheadInTime; ; ) {
    await chain.keepLease();
    const begunMs = context.monotonicMs();
    for (const header of await context.node.headersAt(tipOf(chain).number + ahead)) {
      if (isLate() && !(isNeeded && ahead === 1)) break;
      const walk = await walkBack(context, chain, header, bounds);
      if (walk !== undefined) return walk;
      if (isLate()) break;
    }
    if (ahead === 1 || (isLate() && !isNeeded)) return undefined;
    if (context.monotonicMs() - begunMs >= slowMs) halve(chain, ahead);
    ahead = isLate() ? 1 : Math.min(Math.floor(ahead / 2), chain.aheadInTime);
  }
}

function halve(chain: FollowedChain, ahead: number): void {
  chain.aheadInTime = Math.min(chain.aheadInTime, Math.max(1, Math.floor(ahead / 2)));
}

/**
 * Walks back from a block to one that is known. If a walk ends elsewhere, one of its blocks may have been given with a wrong parent. Then the nodes
 * are asked together, and what was misnamed is read again by the next walk.
 */
async function walkBack(
  context: FollowContext,
  chain: FollowedChain,
  start: BlockRef,
  bounds: WalkBounds,
): Promise<Walk | undefined> {
  const walk = await walkLinked(context, chain, start, bounds);
  if (walk !== "lost") return walk;
  const misnamed = await context.node.misnamedParents(chain.links.unverified(start));
  for (const hash of misnamed) chain.links.forget(hash);
  return undefined;
}

/**
 * Undefined or `lost` if there is none above the final block, if it has left the chain, if the node that has
 * it does not answer, or answers wrongly, or if there is no time for it. Blocks that an earlier walk has read in vain are passed over: if those
 * below them lead to a known one, these are returned, and the next walk leads to them.
 */
async function walkLinked(
  { monotonicMs, ...context }: FollowContext,
  chain: FollowedChain,
  start: BlockRef,
  { final, endsMs }: WalkBounds,
): Promise<Walk | "lost" | undefined> {
  const begunMs = monotonicMs();
  const lateMs = Math.min(endsMs, begunMs + walkBudgetMs);
  const ahead = createReadAhead(context, chain);
  const isEnd = (block: BlockRef) => block.number <= final || isFollowed(chain, block);
  let added: ChainBlock[] = [];
  let next = start;
  for (let read = 0; ; read++) {
    const unread = chain.links.firstUnread(next, isEnd);
    if (unread !== next && !isFollowed(chain, unread)) {
      added = [];
      next = unread;
    }
    if (isFollowed(chain, next)) break;
    if (next.number <= final || read === walkMax) return "lost";
    if (read > 0 && monotonicMs() >= lateMs && !ahead.isRead(next)) {
      chain.aheadInTime = Math.min(chain.aheadInTime, read);
      return undefined;
    }
    await chain.keepLease();
    const block = await ahead.read(next);
    if (block?.hash !== next.hash || block.number !== next.number) return "lost";
    added.push(block);
    next = { number: block.number - 1, hash: block.parentHash };
    chain.links.add(block.hash, next);
  }
  const isFast = 2 * (monotonicMs() - begunMs) < walkBudgetMs;
  const reached = isFast ? 2 * added.length : added.length + 1;
  chain.aheadInTime = Math.min(aheadMax, Math.max(chain.aheadInTime, reached));
  return { known: next.number, added: added.reverse() };
}
