import { type Heads, NodeUnavailableError } from "../../../../app/chain/chain-node.js";
import { type FollowContext, type FollowedChain, tipOf } from "../driver-context.js";
import { settleBlocks } from "../settle-blocks.js";
import { followFinal } from "./follow-chain.js";
import { followHead } from "./follow-head.js";

/** No range of blocks, no walk and no settlement is begun after this time, so that payments and stops have their turn. */
const stepBudgetMs = 15_000;

interface Progress {
  /** Whether blocks of the chain were not followed yet, as far as is known. */
  isBehind: boolean;
  /** What has prevented some of it. It is to be thrown after the rest of the step, which does not depend on it. */
  failure: unknown;
}

/**
 * Follows the chain and ends what is final. Nodes that do not answer, or do not agree about what is final, are no reason to stop payments: stops
 * are obeyed and what is signed is sent meanwhile.
 */
export async function followAndSettle(
  context: FollowContext,
  chain: FollowedChain,
  readHeads: () => Promise<Heads>,
): Promise<Progress> {
  const progress: Progress = { isBehind: true, failure: undefined };
  const attempt = async <T>(part: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await part();
    } catch (error) {
      if (!(error instanceof NodeUnavailableError)) throw error;
      progress.failure ??= error;
      return undefined;
    }
  };
  const heads = await attempt(readHeads);
  if (heads === undefined) return progress;
  const endsMs = context.monotonicMs() + stepBudgetMs;
  const followed = await attempt(() => followFinal(context, chain, heads.final, endsMs));
  if (followed === undefined) return progress;
  // What a walk reads now is above the final block, and is confirmed by two nodes before it is final.
  if (!followed.isBehind) {
    const bounds = { final: followed.final.number, endsMs };
    const isBehind = await attempt(() => followHead(context, chain, heads.latest, bounds));
    progress.isBehind = isBehind ?? true;
  }
  chain.headNumber = Math.min(tipOf(chain).number, heads.sharedNumber ?? Number.POSITIVE_INFINITY);
  const fault = await attempt(() => settleBlocks(context, chain, followed.final, endsMs));
  progress.failure ??= fault;
  return progress;
}
