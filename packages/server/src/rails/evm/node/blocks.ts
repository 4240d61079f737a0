import {
  type ChainBlock,
  type ChainNode,
  NodeUnavailableError,
  type Watch,
} from "../../../app/chain/chain-node.js";
import { describeError } from "../rpc/rpc-error.js";
import type { RpcPool } from "../rpc/rpc-pool.js";
import type { ReadAgreedHeaders } from "./agreed-headers.js";
import { type Only, readConsistently } from "./consistent-read.js";
import type { SecondOpinion } from "./opinion/second-opinion.js";
import { type BlockWithLogs, selectOwn } from "./own-transfers.js";
import { blockByHashQuestion, blockByNumberQuestion, type NodeBlock } from "./read-block.js";
import { onlyOf, type ReadReceipts } from "./receipts.js";
import {
  blockLogsQuestion,
  indexTokens,
  mayHaveTransfers,
  type NodeLog,
  rangeLogsQuestion,
  type TokenIndex,
} from "./transfer-logs.js";

export interface BlockReader {
  readonly block: ChainNode["block"];
  readonly confirmLater: ChainNode["confirmLater"];
  readonly finalBlocks: (from: number, to: number, watch: Watch) => Promise<readonly ChainBlock[]>;
}

interface BlockReaderDeps {
  readonly pool: RpcPool;
  readonly readReceipts: ReadReceipts;
  readonly opinion: SecondOpinion;
  readonly readAgreed: ReadAgreedHeaders;
}

interface TipRef {
  readonly hash: string;
  readonly number: number | undefined;
}

interface FinalRange {
  readonly blocks: readonly NodeBlock[];
  /** The nodes that have all of them; undefined if only one is configured. */
  readonly holders: Only;
}

interface RangeLogs {
  readonly logs: NodeLog[];
  /** Of the blocks that logs are looked for in. */
  readonly blockHashes: ReadonlySet<string>;
  readonly holders: FinalRange["holders"];
  /** Numbers of blocks whose logs are refused even alone. */
  readonly refused: Set<number>;
  /** Whether a single node is asked for everything. */
  readonly isOfOne: boolean;
}

/** How many blocks are read at once: a few megabytes on a busy chain. */
const blocksMax = 32;

/**
 * Reads blocks with what concerns us. At the tip a block and its logs are read by its hash, so that a node which does not have the block
 * cannot answer with nothing. Behind it two nodes name the blocks, and they are read by number from a node that has them. Their logs are read in
 * ranges, which nodes limit in different ways and words: a range that is refused is halved, and so is the next one after a range that no node
 * has answered in time. Nodes have been seen to answer ranges, and even hashes, without logs that exist, so no logs are believed if the
 * block's bloom filter allows some; then its receipts decide. Some networks have empty filters, so only nodes that have the last block of a range
 * are asked for its logs: others answer with none, without an error.
 */
export function createBlockReader({ pool, readReceipts, opinion, readAgreed }: BlockReaderDeps): BlockReader {
  const isAlone = pool.endpoints.length < 2;
  const range = createRangeSize();

  async function readTip(
    { hash, number }: TipRef,
    tokens: TokenIndex,
    only: Only,
  ): Promise<BlockWithLogs | undefined> {
    const hasTokens = tokens.contracts.length > 0;
    const [block, logs] = await pool.ask(
      [blockByHashQuestion(hash, number), ...(hasTokens ? [blockLogsQuestion(hash, tokens)] : [])] as const,
      onlyOf(only),
    );
    if ("error" in block) throw unreadable(`block ${hash}`, describeError(block.error));
    if (block.value === undefined) {
      if (only !== undefined) throw unreadable(`block ${hash}`, "the node does not have it");
      return undefined;
    }
    const found = logs === undefined ? [] : "value" in logs ? logs.value : undefined;
    return { block: block.value, logs: await completeLogs(block.value, found, tokens, only) };
  }

  /** Undefined logs were refused. */
  async function completeLogs(
    block: NodeBlock,
    logs: readonly NodeLog[] | undefined,
    tokens: TokenIndex,
    only: Only,
  ): Promise<readonly NodeLog[]> {
    if (logs !== undefined && (logs.length > 0 || !mayHaveTransfers(block.logsBloom, tokens))) return logs;
    const hashes = block.transactions.map(({ hash }) => hash);
    const receipts = await readReceipts(block, hashes, tokens, only);
    // What is in one that is too large is missing in the balance of its wallet, which the comparison with the chain finds.
    return [...receipts.values()].flatMap((receipt) => ("logs" in receipt ? receipt.logs : []));
  }

  async function readBlocks(from: number, to: number, only: Only): Promise<FinalRange> {
    const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
    const agreed = isAlone ? undefined : await readAgreed(numbers);
    const answers = await pool.ask(
      numbers.map((number, index) => blockByNumberQuestion(number, agreed?.headers[index])),
      onlyOf(only),
    );
    const blocks = answers.map((answer, index) => {
      if ("error" in answer) throw unreadable(`block ${numbers[index]}`, describeError(answer.error));
      if (answer.value === undefined) throw unreadable(`block ${numbers[index]}`, "no node has it");
      return answer.value;
    });
    for (const [index, { number, parentHash }] of blocks.entries())
      if (index > 0 && parentHash !== blocks[index - 1]?.hash)
        throw unreadable(`block ${number}`, "its parent is another block than the one before it");
    return { blocks, holders: agreed?.holders };
  }

  async function readRangeLogs(
    from: number,
    to: number,
    tokens: TokenIndex,
    found: RangeLogs,
  ): Promise<void> {
    const size = to - from + 1;
    if (size <= range.max()) {
      const [answer] = await pool
        .ask(
          [rangeLogsQuestion(from, to, tokens, found.blockHashes)],
          found.isOfOne ? onlyOf(found.holders) : { only: found.holders },
        )
        .catch((error: unknown) => {
          range.unanswered(size);
          throw error;
        });
      if ("value" in answer) {
        range.answered(size);
        return void found.logs.push(...(answer.value ?? []));
      }
      if (size === 1) return void found.refused.add(from);
      range.refused(size);
    }
    const middle = from + Math.ceil(size / 2) - 1;
    await readRangeLogs(from, middle, tokens, found);
    await readRangeLogs(middle + 1, to, tokens, found);
  }

  async function readFinal(
    from: number,
    to: number,
    tokens: TokenIndex,
    only: Only,
  ): Promise<readonly BlockWithLogs[]> {
    const { blocks, holders } = await readBlocks(from, to, only);
    const found: RangeLogs = {
      ...{ logs: [], refused: new Set(), blockHashes: new Set(blocks.map(({ hash }) => hash)) },
      ...{ holders: only ?? holders, isOfOne: only !== undefined },
    };
    if (tokens.contracts.length > 0) await readRangeLogs(from, to, tokens, found);
    const byBlock = new Map<string, NodeLog[]>(blocks.map(({ hash }) => [hash, []]));
    for (const log of found.logs) byBlock.get(log.blockHash)?.push(log);
    return await Promise.all(
      blocks.map(async (block) => {
        const logs = found.refused.has(block.number) ? undefined : byBlock.get(block.hash);
        return { block, logs: await completeLogs(block, logs, tokens, only) };
      }),
    );
  }

  return {
    block: async (hash, watch, number) => {
      const tokens = indexTokens(watch.tokens);
      return await readConsistently(pool, async (only) => {
        const read = await readTip({ hash, number }, tokens, only);
        const blocks = read === undefined ? [] : [read];
        const [value] = await selectOwn(blocks, watch, tokens, readReceipts, only);
        return { value, transactions: transactionsOf(blocks) };
      });
    },
    confirmLater: (blocks, tokens) => {
      const index = indexTokens(tokens);
      for (const block of blocks) opinion.remember(block, index);
    },
    finalBlocks: async (from, to, watch) => {
      const last = Math.min(to, from + blocksMax - 1);
      if (last < from) return [];
      const tokens = indexTokens(watch.tokens);
      const blocks = await readConsistently(pool, async (only) => {
        const read = await readFinal(from, last, tokens, only);
        const value = await selectOwn(read, watch, tokens, readReceipts, only);
        return { value, transactions: transactionsOf(read) };
      });
      await opinion.confirmFinal(blocks, tokens);
      return blocks;
    },
  };
}

function transactionsOf(blocks: readonly BlockWithLogs[]): ReadonlySet<string> {
  return new Set(blocks.flatMap(({ block }) => block.transactions.map(({ hash }) => hash)));
}

/**
 * For how many blocks logs are asked for at once. A range that was refused is never asked for again. One without an answer is divided in the
 * next step, because in this one the nodes have had their time; the size grows again, as they may have been unavailable.
 */
function createRangeSize() {
  let allowedMax = blocksMax;
  let max = blocksMax;
  return {
    max: () => max,
    refused: (size: number) => {
      allowedMax = Math.ceil(size / 2);
      max = allowedMax;
    },
    unanswered: (size: number) => {
      max = Math.ceil(size / 2);
    },
    answered: (size: number) => {
      if (size * 2 > max) max = Math.min(allowedMax, max + 1);
    },
  };
}

function unreadable(what: string, reason: string): NodeUnavailableError {
  return new NodeUnavailableError(`Cannot read ${what}: ${reason}.`);
}
