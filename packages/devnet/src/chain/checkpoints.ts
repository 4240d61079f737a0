import { type ChainState, headOf } from "./chain-state.js";
import type { JournalBlock, ReplayStep } from "./journal.js";

/**
 * How blocks are taken back. The EVM can return to a snapshot, but it keeps all of them, each with a copy of its pool: one before every
 * block cost 3 MB a block with 2000 transactions in the pool. So there is one before every 16th block, and the blocks between a
 * snapshot and the wanted one are executed again.
 */
export interface Checkpoint {
  readonly snapshot: string;
  /** How many steps the chain had. */
  readonly stepCount: number;
  readonly block: number;
}

/** How far a reorganisation can reach. */
export const reorganisationMax = 64;
const blocksBetween = 16;

/** Called before a block is executed. */
export async function keepCheckpoint(state: ChainState): Promise<void> {
  const { checkpoints, stepCount } = state;
  const block = headOf(state).number;
  const last = checkpoints.at(-1);
  if (last !== undefined && block - last.block < blocksBetween) return;
  const snapshot = (await state.edr.request("evm_snapshot")) as string;
  checkpoints.push({ snapshot, stepCount, block });
  // The second checkpoint reaches back far enough, so nothing needs the first.
  while (checkpoints[1] !== undefined && checkpoints[1].block <= block - reorganisationMax)
    checkpoints.shift();
  const first = checkpoints[0]?.stepCount ?? stepCount;
  state.tail.splice(0, state.tail.length - (stepCount - first));
}

/** How many of the last blocks can be taken back. */
export function reversibleBlocks({ checkpoints, blocks }: ChainState): number {
  const [first] = checkpoints;
  return first === undefined ? 0 : Math.min(reorganisationMax, blocks.length - 1 - first.block);
}

/**
 * Takes back the last blocks, and every change of the state after the first of them. Returns the blocks, and the steps that lead from
 * the EVM's new state to the wanted one, which the caller executes. The EVM's pool is the one of the snapshot.
 */
export async function takeBack(
  state: ChainState,
  depth: number,
): Promise<{ removed: JournalBlock[]; again: ReplayStep[] }> {
  const target = headOf(state).number - depth;
  const removed = state.tail.filter(
    (step) => step.type === "block" && step.number > target,
  ) as JournalBlock[];
  const keptSteps = state.tail.findIndex((step) => step.type === "block" && step.number > target);
  const tailStart = state.stepCount - state.tail.length;
  while ((state.checkpoints.at(-1)?.block ?? target) > target) state.checkpoints.pop();
  const checkpoint = state.checkpoints.pop();
  if (checkpoint === undefined || (await state.edr.request("evm_revert", [checkpoint.snapshot])) !== true)
    throw new Error(`the EVM has no snapshot from before the last ${depth} blocks`);
  const again = state.tail.slice(checkpoint.stepCount - tailStart, keptSteps);
  state.tail.length = checkpoint.stepCount - tailStart;
  state.stepCount = checkpoint.stepCount;
  for (const { hash } of state.blocks.splice(checkpoint.block + 1)) state.numberOf.delete(hash);
  return { removed, again };
}
