import { NodeUnavailableError } from "../../../../app/chain/chain-node.js";
import { type DriverContext, type FollowedChain, settledOf } from "../driver-context.js";
import { type ComparedTurn, compareBalances } from "./compare-balances.js";

export interface ComparisonDeps extends DriverContext {
  /** Called when no node has given the state of a block that is needed, and with undefined when one has again. */
  onCompared: (failure: NodeUnavailableError | undefined) => void;
  monotonicMs: () => number;
}

/** When the books are compared with the chain. */
export interface Comparison {
  /** At each settled block, and further while there is nothing else to do: a page of wallets each time. Returns whether there is more. */
  readonly compare: (chain: FollowedChain, isBusy: boolean) => Promise<boolean>;
  /** Compares again at the same settled block. */
  readonly reset: () => void;
}

/** How long the books are not compared after a failure: twice as long each time. */
const pauseMs = 1000;
const pauseMaxMs = 300_000;

export function createComparison(deps: ComparisonDeps): Comparison {
  let comparedAt = -1;
  const turn: ComparedTurn = { afterWalletId: undefined, unread: new Set() };
  let toCompare: Awaited<ReturnType<typeof compareBalances>> = "none";
  /** How often it has failed in a row, and when it is tried next. */
  let failures = 0;
  let dueMs = Number.NEGATIVE_INFINITY;
  let isReported = false;
  const report = (failure: NodeUnavailableError | undefined) => {
    if (failure !== undefined || isReported) deps.onCompared(failure);
    isReported = failure !== undefined;
  };
  return {
    reset: () => {
      comparedAt = -1;
    },
    compare: async (chain, isBusy) => {
      const { number } = settledOf(chain);
      const isDue = number !== comparedAt || toCompare === "touched" || (toCompare === "others" && !isBusy);
      if (!isDue || deps.monotonicMs() < dueMs) return false;
      let leftOut: NodeUnavailableError | undefined;
      try {
        toCompare = await compareBalances(deps, chain, turn, (failure) => {
          leftOut ??= failure;
        });
      } catch (error) {
        // A node may not keep the state of this block at all. What blocks show is credited without it.
        if (!(error instanceof NodeUnavailableError)) throw error;
        dueMs = deps.monotonicMs() + Math.min(pauseMaxMs, pauseMs * 2 ** failures);
        failures += 1;
        report(error);
        return false;
      }
      // A wallet that is left out comes in its turn, and until then it stays so.
      if (leftOut !== undefined || turn.unread.size === 0) report(leftOut);
      failures = 0;
      comparedAt = number;
      return toCompare === "touched";
    },
  };
}
