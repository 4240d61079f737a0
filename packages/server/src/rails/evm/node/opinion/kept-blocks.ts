import { type BlockHeader, type ChainBlock, NodeUnavailableError } from "../../../../app/chain/chain-node.js";
import type { RpcPool } from "../../rpc/rpc-pool.js";
import { headerQuestion } from "../read-block.js";
import type { TokenIndex } from "../transfer-logs.js";
import { groupOpinions, weighOpinions } from "./weigh-opinions.js";

export interface KeptBlock {
  readonly block: ChainBlock;
  readonly tokens: TokenIndex;
}

interface KeptBlocksDeps {
  readonly pool: RpcPool;
  readonly monotonicMs: () => number;
  /** Throws `NodeUnavailableError` if two nodes cannot confirm them now. */
  readonly confirmBlocks: (blocks: readonly KeptBlock[]) => Promise<void>;
  /** Nobody confirms any more what was kept: it has to be read again. */
  readonly onForgotten: () => void;
}

/** Blocks that were read before they were final, until they are and two nodes have confirmed them. */
export interface KeptBlocks {
  readonly keep: (block: ChainBlock, tokens: TokenIndex) => void;
  readonly forget: (hash: string) => void;
  readonly clear: () => void;
  readonly has: (hash: string) => boolean;
  /** What the last call of `confirm` has ended at before the final block; undefined if that is not why. */
  readonly waitsFor: () => string | undefined;
  /**
   * Confirms those up to the final block, the oldest first, as many as there is time for. Returns the block up to which all are confirmed:
   * the final one, or one before it, from which the next call goes on. Undefined if none could be confirmed. Those that are not in the chain are
   * kept until a later block is settled: nodes can name them again.
   */
  readonly confirm: (final: BlockHeader, settledNumber?: number) => Promise<BlockHeader | undefined>;
}

/**
 * How many transfers and payments are kept, about 100 MB. Of a day of blocks on chains of the OP stack, 43,200, that is four in each. A node can
 * also make up blocks that are full of them.
 */
const factsMax = 200_000;
/** How many blocks are confirmed at once, with one request for their headers and one for what is in them. */
const batchMax = 50;
/**
 * No batch is begun after this time. Finality moves in jumps, of hundreds of blocks that can all have something of ours, while one slow node
 * takes seconds for each request: payments and the lease do not wait until all of them are confirmed.
 */
const budgetMs = 15_000;

export function createKeptBlocks({
  pool,
  monotonicMs,
  confirmBlocks,
  onForgotten,
}: KeptBlocksDeps): KeptBlocks {
  const kept = new Map<string, KeptBlock>();
  let facts = 0;
  /** Half after a failure: a node that lacks one transaction says nothing about the others that are asked for with it. */
  let sizeMax = batchMax;
  let waitsFor: string | undefined;

  function forget(hash: string): void {
    const found = kept.get(hash);
    if (found !== undefined) facts -= factsIn(found.block);
    kept.delete(hash);
  }

  function clear(): void {
    kept.clear();
    facts = 0;
    onForgotten();
  }

  async function confirmBatch(
    batch: readonly KeptBlock[],
    settledNumber: number,
  ): Promise<BlockHeader | undefined> {
    const headers = await readHeaders(
      pool,
      batch.map(({ block }) => block.number),
    );
    // A block that was left by a reorganisation does not count, nor one that two nodes have another block in the place of. If they disagree and
    // nothing says which of them is wrong, it counts.
    const isInChain = ({ block }: KeptBlock, index: number) =>
      headers[index]?.some(({ hash }) => hash === block.hash) === true;
    const inChain = batch.filter(isInChain);
    await confirmBlocks(inChain);
    for (const one of batch) {
      const isOver = inChain.includes(one) || one.block.number <= settledNumber;
      // Another reading of it can have taken its place.
      if (isOver && kept.get(one.block.hash) === one) forget(one.block.hash);
    }
    const [last, ...others] = headers.at(-1) ?? [];
    return others.length === 0 ? last : undefined;
  }

  /** Returns false if two nodes cannot confirm them now, or all of them at once. */
  async function tryBatch(batch: readonly KeptBlock[], settledNumber: number) {
    try {
      const reached = await confirmBatch(batch, settledNumber);
      sizeMax = Math.min(batchMax, sizeMax * 2);
      return { reached };
    } catch (error) {
      if (!(error instanceof NodeUnavailableError)) throw error;
      sizeMax = Math.ceil(batch.length / 2);
      waitsFor = error.message;
      return false;
    }
  }

  return {
    keep: (block, tokens) => {
      forget(block.hash);
      kept.set(block.hash, { block, tokens });
      facts += factsIn(block);
      if (facts > factsMax) clear();
    },
    forget,
    clear,
    has: (hash) => kept.has(hash),
    waitsFor: () => waitsFor,
    confirm: async (final, settledNumber = -1) => {
      waitsFor = undefined;
      const endsMs = monotonicMs() + budgetMs;
      const due = [...kept.values()]
        .filter(({ block }) => block.number <= final.number)
        .sort((one, other) => one.block.number - other.block.number);
      let reached: BlockHeader | undefined;
      while (due.length > 0) {
        const batch = due.slice(0, sizeMax);
        const tried = await tryBatch(batch, settledNumber);
        if (tried === false && batch.length === 1) return reached;
        if (tried !== false) {
          due.splice(0, batch.length);
          waitsFor = undefined;
          // Two blocks with one number are of different branches, and either can be the one in the chain.
          if (due[0]?.block.number !== batch.at(-1)?.block.number) reached = tried.reached ?? reached;
        }
        if (due.length > 0 && monotonicMs() >= endsMs) {
          waitsFor ??= `The nodes take long to confirm what is in block ${due[0]?.block.number}.`;
          return reached;
        }
      }
      return final;
    },
  };
}

function factsIn({ transfers, outcomes }: ChainBlock): number {
  return outcomes.reduce((count, outcome) => count + outcome.transfers.length + 1, transfers.length);
}

/** The header with each of these numbers that the larger group of nodes has, or those that nodes disagree about. */
async function readHeaders(pool: RpcPool, numbers: readonly number[]): Promise<readonly BlockHeader[][]> {
  const answered = await pool.askEach(numbers.map(headerQuestion));
  return numbers.map((number, index) => {
    const given = answered.flatMap(({ name, answers }) => {
      const header = "unavailable" in answers ? undefined : answers[index];
      const value = header !== undefined && "value" in header ? header.value : undefined;
      return value === undefined ? [] : [{ name, value }];
    });
    const opinions = groupOpinions(given, ({ hash }) => hash);
    const verdict = weighOpinions(opinions, pool.endpoints.length);
    if (verdict.kind === "unsure") throw new NodeUnavailableError(`Two nodes must give block ${number}.`);
    if (verdict.kind === "disputed") return opinions.map(({ value }) => value);
    const { value, others } = verdict;
    if (others.length > 0)
      pool.seeOdd(others, `The others have ${value.hash} as block ${number}, which is final.`);
    return [value];
  });
}
