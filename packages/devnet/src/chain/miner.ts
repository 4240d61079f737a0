import type { Chain } from "./chain.js";
import { blocksMax, type ChainState, headOf } from "./chain-state.js";
import { mineBlock } from "./mine.js";
import { hasExecutable } from "./pool.js";

export type MiningMode =
  | { readonly mode: "manual" }
  | { readonly mode: "interval"; readonly blockTimeMs: number };

/**
 * Mines at intervals while something waits for a block or is not final yet, and rests otherwise: an idle chain has no timer. A
 * transaction that no block includes, because its fee is too low, keeps the miner busy for a bounded number of blocks.
 */
export interface Miner {
  readonly mode: () => MiningMode;
  readonly setMode: (mode: MiningMode) => void;
  /** Something may have to be mined. */
  readonly wake: () => void;
  readonly isResting: () => boolean;
  readonly stop: () => void;
}

/** The base fee falls by an eighth with every empty block, so what 300 of them do not make includable will wait longer. */
const fruitlessMax = 300;

export interface MinerDeps {
  readonly chain: Chain;
  readonly mode: MiningMode;
  readonly finalDepth: () => number;
  readonly onError: (error: unknown) => void;
}

export function createMiner({ chain, mode: firstMode, finalDepth, onError }: MinerDeps): Miner {
  let mode = firstMode;
  let timer: NodeJS.Timeout | undefined;
  let isMining = false;
  let isWoken = false;
  let fruitless = 0;

  const schedule = () => {
    if (mode.mode !== "interval" || timer !== undefined || isMining) return;
    timer = setTimeout(() => tick().catch(onError), mode.blockTimeMs);
  };
  const tick = async () => {
    timer = undefined;
    isMining = true;
    isWoken = false;
    const mined = await chain.run(mineIfUseful);
    isMining = false;
    if (mined || isWoken) schedule();
  };
  const mineIfUseful = async (state: ChainState): Promise<boolean> => {
    if (mode.mode !== "interval" || state.blocks.length >= blocksMax) return false;
    const isFinal = headOf(state).number - finalDepth() >= state.lastActive;
    if (isFinal && (fruitless >= fruitlessMax || !(await hasExecutable(state)))) return false;
    const before = state.lastActive;
    await mineBlock(state);
    fruitless = isFinal && state.lastActive === before ? fruitless + 1 : 0;
    return true;
  };
  const wake = () => {
    isWoken = true;
    fruitless = 0;
    schedule();
  };

  return {
    mode: () => mode,
    setMode: (next) => {
      clearTimeout(timer);
      timer = undefined;
      mode = next;
      wake();
    },
    wake,
    isResting: () => timer === undefined && !isMining,
    stop: () => {
      mode = { mode: "manual" };
      clearTimeout(timer);
    },
  };
}
