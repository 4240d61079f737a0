import { RpcError, rpcCodes } from "../rpc-error.js";
import {
  addBlock,
  type BlockRef,
  type ChainState,
  fixedBlocks,
  headOf,
  refuseIfFull,
} from "./chain-state.js";
import { keepCheckpoint, reversibleBlocks, takeBack } from "./checkpoints.js";
import type { JournalBlock } from "./journal.js";
import { executeBlock, replay } from "./mine.js";
import { emptyPool, refillPool } from "./pool.js";

export interface ReorganisationRequest {
  /** How many blocks are removed. */
  readonly depth: number;
  /** How many blocks replace them; at least as many. */
  readonly add?: number | undefined;
  /** What becomes of the removed blocks' transactions: in the first new block, in the pool, or gone. */
  readonly transactions: "include" | "return" | "drop";
  /** Signed transactions that come first in the new blocks, a list for each block. */
  readonly first?: readonly (readonly string[])[] | undefined;
}

export interface Reorganisation {
  readonly removed: readonly BlockRef[];
  readonly added: readonly BlockRef[];
}

/**
 * Replaces the last blocks. The caller holds the mutex, so the head is never seen without its new blocks, and they are one line of the
 * journal. If anything fails in between, the EVM and the journal differ: the error is not a refusal, and ends the process.
 */
export async function reorganise(state: ChainState, request: ReorganisationRequest): Promise<Reorganisation> {
  const { depth, add = depth } = request;
  refuseImpossible(state, depth, add);
  try {
    return await replaceBlocks(state, request, timestampsFor(state, depth, add));
  } catch (cause) {
    throw new Error("a reorganisation failed half-way", { cause });
  }
}

async function replaceBlocks(
  state: ChainState,
  request: ReorganisationRequest,
  timestamps: readonly number[],
): Promise<Reorganisation> {
  const { depth, first = [], transactions } = request;
  const waiting = await emptyPool(state);
  const removed = await revert(state, depth);
  const removedRaws = removed.flatMap((block) => block.transactions);
  const added: JournalBlock[] = [];
  for (const [index, timestamp] of timestamps.entries()) {
    const again = index === 0 && transactions === "include" ? removedRaws : [];
    await refillPool(state, [...(first[index] ?? []), ...again]);
    const block = await executeBlock(state, timestamp);
    // What the block left out waits in the pool, like everything else that is not included.
    waiting.unshift(...(await emptyPool(state)));
    addBlock(state, block);
    added.push(block);
  }
  await state.journal.append({ type: "reorganisation", depth, blocks: added });
  await refillPool(state, transactions === "return" ? [...removedRaws, ...waiting] : waiting);
  state.lastActive = headOf(state).number;
  return { removed: removed.map(refOf), added: added.map(refOf) };
}

/** Takes the chain back to before the last blocks, with an empty pool, and returns them. */
async function revert(state: ChainState, depth: number): Promise<JournalBlock[]> {
  const { branch, baseFee } = state;
  const { removed, again } = await takeBack(state, depth);
  await emptyPool(state);
  // The snapshot is used up.
  await keepCheckpoint(state);
  await replay(state, again);
  state.branch = branch + 1;
  state.baseFee = baseFee;
  return removed;
}

function refuseImpossible(state: ChainState, depth: number, add: number): void {
  const depthMax = Math.min(reversibleBlocks(state), state.blocks.length - fixedBlocks);
  if (depth > depthMax)
    throw new RpcError(rpcCodes.invalidParams, `At most ${depthMax} blocks can be replaced.`);
  if (add < depth)
    throw new RpcError(rpcCodes.invalidParams, `${depth} blocks are replaced by at least as many.`);
  refuseIfFull(state, add - depth);
}

/** The new blocks have the times of the old ones, and a second more for each block that is additional. */
function timestampsFor({ blocks }: ChainState, depth: number, add: number): number[] {
  const old = blocks.slice(-depth).map(({ timestamp }) => timestamp);
  const last = old.at(-1) ?? 0;
  return [...old, ...Array.from({ length: add - depth }, (_, index) => last + index + 1)];
}

function refOf({ number, hash, timestamp }: BlockRef): BlockRef {
  return { number, hash, timestamp };
}
