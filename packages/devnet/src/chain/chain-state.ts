import { RpcError, rpcCodes } from "../rpc-error.js";
import type { Checkpoint } from "./checkpoints.js";
import type { ChainIdentity, Edr } from "./edr.js";
import type { Journal, JournalBlock, ReplayStep } from "./journal.js";

/** Bounds. A block costs about 8 KB of memory in the EVM, so a chain of `blocksMax` blocks needs about 2 GB. */
export const blocksMax = 200_000;
export const pooledMax = 20_000;
/** The genesis block and the block that deploys the contracts are never removed. */
export const fixedBlocks = 2;

export interface BlockRef {
  readonly number: number;
  readonly hash: string;
  readonly timestamp: number;
}

/** Everything that the process knows about the chain. It is only touched under the chain's mutex. */
export interface ChainState {
  readonly identity: ChainIdentity;
  readonly edr: Edr;
  readonly journal: Journal;
  readonly now: () => number;
  /** The block of each number. */
  readonly blocks: BlockRef[];
  readonly numberOf: Map<string, number>;
  /** The last steps of the chain, and the EVM's snapshots between them; see checkpoints.ts. */
  readonly tail: ReplayStep[];
  readonly checkpoints: Checkpoint[];
  /** How many steps the chain has; the tail ends with the last of them. */
  stepCount: number;
  /** The signed bytes of what is in the EVM's pool, by hash, in the order of arrival. */
  readonly pooled: Map<string, string>;
  /** The last block that is worth being final: one with transactions, or one that replaced others. */
  lastActive: number;
  /** How many times blocks were replaced; it is part of the coinbase, so that a replacing block never equals the replaced one. */
  branch: number;
  /** Chosen for the next block, or for all following ones. */
  baseFee: { readonly wei: bigint; readonly hold: boolean } | undefined;
  /** A chain with a sequencer has no pool in which a transaction could wait for the one before it. */
  pool: "mempool" | "sequencer";
}

export function headOf({ blocks }: Pick<ChainState, "blocks">): BlockRef {
  const head = blocks.at(-1);
  if (head === undefined) throw new Error("the chain has no genesis block");
  return head;
}

export function addBlock(state: ChainState, block: JournalBlock): void {
  state.blocks.push({ number: block.number, hash: block.hash, timestamp: block.timestamp });
  state.numberOf.set(block.hash, block.number);
  addStep(state, { type: "block", ...block });
  if (block.transactions.length > 0) state.lastActive = block.number;
}

export function addStep(state: ChainState, step: ReplayStep): void {
  state.tail.push(step);
  state.stepCount += 1;
}

export function refuseIfFull({ blocks }: ChainState, more: number): void {
  if (blocks.length + more <= blocksMax) return;
  throw new RpcError(
    rpcCodes.limitExceeded,
    `The development chain is full: it has ${blocks.length} of at most ${blocksMax} blocks. Stop it and delete its folder to begin a new one.`,
  );
}
