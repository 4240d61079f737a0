import { type ChainBlock, NodesDisagreeError } from "../../../../app/chain/chain-node.js";
import type { RpcPool } from "../../rpc/rpc-pool.js";
import type { ReceiptReader } from "../receipts.js";
import type { TokenIndex } from "../transfer-logs.js";
import { type Claim, claimsOf } from "./claims.js";
import { ContradictionError, confirmClaims } from "./confirm-claims.js";
import { createKeptBlocks, type KeptBlock, type KeptBlocks } from "./kept-blocks.js";
import { MisreadError } from "./misread-error.js";

export interface SecondOpinion {
  /**
   * Throws `NodesDisagreeError` if the blocks must be read again, or nodes contradict each other, which the next heads report, and
   * `NodeUnavailableError` if two nodes cannot confirm them.
   */
  readonly confirmFinal: (blocks: readonly ChainBlock[], tokens: TokenIndex) => Promise<void>;
  /** The next heads are a reason to halt. */
  readonly dispute: (reason: string, isComplete: boolean, blockHash: string) => void;
  /** Nodes agree about a block that they have contradicted each other about. */
  readonly agree: (blockHash: string) => void;
  /** Whether there is a block that nodes have contradicted each other about, and not agreed since. */
  readonly isDisputed: () => boolean;
  /** Keeps what is written of a block that is not final yet, to confirm it when it is, in the place of what was kept of the same block. */
  readonly remember: KeptBlocks["keep"];
  /**
   * Confirms blocks that were kept, up to the final one. Also throws what final blocks have shown since. Undefined if none could be confirmed, or
   * if one was misread.
   */
  readonly confirmKept: KeptBlocks["confirm"];
  /** Why `confirmKept` has not come to the final block, if that is known. */
  readonly waitsFor: KeptBlocks["waitsFor"];
  /** Whether what is written of a block is still to be confirmed. */
  readonly isToConfirm: KeptBlocks["has"];
  /**
   * A block did not show what most of the nodes have in it, which nothing else contradicts: what was read of blocks that are not settled can lack more.
   * If nothing has shown which node that was, another one is asked first.
   */
  readonly onOmission: (isUnknown: boolean) => void;
  /** How often a block that was kept was misread, something was left out of one, or too much was kept. All that was kept is forgotten then, and has to be read again. */
  readonly misreads: () => number;
}

/** How many transactions are confirmed with one request to each node. */
const claimsMax = 50;
/** How many blocks are remembered about which nodes contradict each other. */
const disputedMax = 100;

/**
 * The hash of a final block is agreed by two nodes, but what is in the block comes from one of them, and cannot be checked against the hash
 * without the formats of every chain. So all nodes are asked about each transaction that moves money in the ledger, and two must say the
 * same. With one node there is no second opinion.
 */
export function createSecondOpinion(
  pool: RpcPool,
  monotonicMs: () => number,
  giveUp: ReceiptReader["giveUp"],
): SecondOpinion {
  const isAlone = pool.endpoints.length < 2;

  /** What was found while final blocks were read; it is reported with the heads. */
  let contradiction: ContradictionError | undefined;
  /** The hashes of blocks. */
  const disputed = new Set<string>();
  let misreads = 0;
  let misread: string | undefined;
  const onForgotten = () => {
    misreads += 1;
  };
  const kept = createKeptBlocks({ pool, monotonicMs, confirmBlocks: confirm, onForgotten });

  /** At once: each node limits how many requests it gets at the same time. */
  async function confirm(blocks: readonly KeptBlock[]): Promise<void> {
    if (isAlone) return;
    const claims = blocks.flatMap(claimsOf);
    const parts: Claim[][] = [];
    for (let start = 0; start < claims.length; start += claimsMax)
      parts.push(claims.slice(start, start + claimsMax));
    try {
      await Promise.all(parts.map((part) => confirmClaims(pool, part, giveUp)));
    } catch (error) {
      if (error instanceof ContradictionError) noteDispute(error.blockHash);
      if (error instanceof MisreadError) disputed.delete(error.blockHash);
      throw error;
    }
    for (const { block } of blocks) disputed.delete(block.hash);
  }

  function noteDispute(blockHash: string): void {
    const [oldest] = disputed;
    if (oldest !== undefined && disputed.size >= disputedMax) disputed.delete(oldest);
    disputed.add(blockHash);
  }

  return {
    confirmFinal: async (blocks, tokens) => {
      try {
        await confirm(blocks.map((block) => ({ block, tokens })));
      } catch (error) {
        if (error instanceof ContradictionError) {
          contradiction = error;
          throw new NodesDisagreeError(error.message);
        }
        if (!(error instanceof MisreadError)) throw error;
        pool.changeFirst();
        throw new NodesDisagreeError(`${error.message} The block is read again.`);
      }
    },
    dispute: (reason, isComplete, blockHash) => {
      contradiction = new ContradictionError(reason, isComplete, blockHash);
      noteDispute(blockHash);
    },
    agree: (blockHash) => void disputed.delete(blockHash),
    isDisputed: () => disputed.size > 0,
    isToConfirm: kept.has,
    waitsFor: () => misread ?? kept.waitsFor(),
    remember: (block, tokens) => {
      if (isAlone) return;
      if (block.transfers.length + block.outcomes.length > 0) kept.keep(block, tokens);
      else kept.forget(block.hash);
    },
    confirmKept: async (final, settledNumber) => {
      const found = contradiction;
      contradiction = undefined;
      misread = undefined;
      if (found !== undefined) throw found;
      try {
        return await kept.confirm(final, settledNumber);
      } catch (error) {
        // The network halts. When it is resumed the block is read again, so that the same lie does not halt it again.
        if (error instanceof ContradictionError && error.isComplete) kept.forget(error.blockHash);
        if (!(error instanceof MisreadError)) throw error;
        misread = error.message;
        pool.changeFirst();
        kept.clear();
        return undefined;
      }
    },
    onOmission: (isUnknown) => {
      if (isAlone) return;
      if (isUnknown) pool.changeFirst();
      kept.clear();
    },
    misreads: () => misreads,
  };
}
