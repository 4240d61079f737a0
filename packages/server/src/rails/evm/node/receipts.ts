import { NodeUnavailableError } from "../../../app/chain/chain-node.js";
import { describeError, isAnswerTooLarge, methodNotFound } from "../rpc/rpc-error.js";
import { AnswerFault, type Question, type RpcPool } from "../rpc/rpc-pool.js";
import { InconsistentError, type Only } from "./consistent-read.js";
import { requiredOpinions } from "./opinion/weigh-opinions.js";
import { readBounded, readHash, readList, readQuantity, readRecord } from "./read-values.js";
import { type NodeLog, readLog, type TokenIndex } from "./transfer-logs.js";

/** What executing a transaction came to. */
export interface NodeReceipt {
  readonly hash: string;
  readonly success: boolean;
  /** In wei, with everything that the sender was charged. */
  readonly fee: bigint;
  /** Those that can be transfers of the tokens. */
  readonly logs: readonly NodeLog[];
}

/** Why no node gives a receipt that others in the place of it could be read: it is too large. */
export interface UnreadableReceipt {
  readonly hash: string;
  readonly unreadable: string;
}

function readReceipt(value: unknown): NodeReceipt & { readonly blockHash: string } {
  const receipt = readRecord(value, "the receipt");
  const status = readQuantity(receipt["status"], "status");
  if (status > 1n) throw new AnswerFault("status is neither 0 nor 1");
  return {
    blockHash: readHash(receipt["blockHash"], "blockHash"),
    hash: readHash(receipt["transactionHash"], "transactionHash"),
    success: status === 1n,
    fee: feeOf(receipt),
    logs: readList(receipt["logs"], "logs").map(readLog),
  };
}

/**
 * On chains of the OP stack, `l1Fee` is charged beside the gas, and since the hardfork Isthmus a fee for the operator. Its scalar means
 * millionths until the hardfork Jovian, which is recognised by the scalar of the data footprint, and hundreds from then on.
 */
function feeOf(receipt: Record<string, unknown>): bigint {
  const read = (name: string, bits: 64 | 96) => readBounded(receipt[name], name, bits);
  const readOptional = (name: string) => ((receipt[name] ?? null) === null ? 0n : read(name, 96));
  const gasUsed = read("gasUsed", 64);
  const scaled = gasUsed * readOptional("operatorFeeScalar");
  const isJovian = (receipt["daFootprintGasScalar"] ?? null) !== null;
  const operatorFee = (isJovian ? scaled * 100n : scaled / 1_000_000n) + readOptional("operatorFeeConstant");
  return gasUsed * read("effectiveGasPrice", 96) + readOptional("l1Fee") + operatorFee;
}

/** Undefined if the node does not have the transaction in this block; it can have it in another one. */
export function receiptQuestion(
  hash: string,
  blockHash: string,
  { isLogKept }: Pick<TokenIndex, "isLogKept">,
): Question<NodeReceipt> {
  return {
    method: "eth_getTransactionReceipt",
    ...{ params: [hash], isLogKept },
    read: (result) => {
      if (result === null) return undefined;
      const receipt = readReceipt(result);
      if (receipt.hash !== hash) throw new AnswerFault("the receipt is of another transaction");
      return receipt.blockHash === blockHash ? receipt : undefined;
    },
  };
}

/** Undefined if the node does not have the block, or other transactions in it. */
function blockReceiptsQuestion(
  block: ReceiptBlock,
  { isLogKept }: TokenIndex,
): Question<readonly NodeReceipt[]> {
  return {
    method: "eth_getBlockReceipts",
    ...{ params: [block.hash], isLogKept },
    read: (result) => {
      if (result === null) return undefined;
      const receipts = readList(result, "the receipts").map(readReceipt);
      if (receipts.some(({ blockHash }) => blockHash !== block.hash))
        throw new AnswerFault("a receipt is of another block");
      const hashes = new Set(receipts.map(({ hash }) => hash));
      const isWhole = receipts.length === block.transactions.length && hashes.size === receipts.length;
      return isWhole && block.transactions.every(({ hash }) => hashes.has(hash)) ? receipts : undefined;
    },
  };
}

interface ReceiptBlock {
  readonly hash: string;
  readonly transactions: readonly { readonly hash: string }[];
}

export interface ReceiptReader {
  readonly read: (
    block: ReceiptBlock,
    hashes: readonly string[],
    tokens: TokenIndex,
    only?: Only,
  ) => Promise<ReadonlyMap<string, NodeReceipt | UnreadableReceipt>>;
  /**
   * Too few nodes give it to confirm it, because it is too large for the others. Returns whether it is unreadable from now on: not yet if nodes that
   * do not answer (`isComplete` is false) may give it.
   */
  readonly giveUp: (hash: string, isComplete: boolean) => boolean;
}

export type ReadReceipts = ReceiptReader["read"];

/** From so many on, one call for the whole block is cheaper than one for each. */
const wholeBlockMin = 8;
/** How many are asked for first, one by one: a batch. */
const firstPart = 100;
/** For how many blocks they are asked for one by one after the receipts of a whole one were too many. */
const singlyMax = 16;
const unreadable = "it is too large for too many of the nodes";
/** What is forgotten is found again. */
const refusedMax = 1000;
/** How long nodes that do not answer are waited for. */
const awaitedMs = 60_000;

/** Only these nodes are asked, each of them once; or all of them, as often as usual. */
export function onlyOf(only: Only) {
  return only === undefined ? {} : { only, rounds: 1 };
}

/**
 * The receipts of some transactions of a block; all of them, or an error. One that is too large for every node is said to be: others fill blocks
 * with logs, and no block must wait for that. One that no node has contradicts the block.
 */
export function createReceiptReader(pool: RpcPool, monotonicMs: () => number): ReceiptReader {
  /** When it was first refused, and whether it is given up. */
  const refused = new Map<string, { sinceMs: number; isGivenUp: boolean }>();
  /** Not all nodes have the method; a node that lacks it is not asked again. */
  let isOffered = true;
  let singly = 0;
  const deps = { pool, giveUp };

  async function readBlockReceipts(
    block: ReceiptBlock,
    tokens: TokenIndex,
    only: Only,
  ): Promise<readonly NodeReceipt[] | undefined> {
    const [answer] = await pool
      .ask([blockReceiptsQuestion(block, tokens)], { manner: "brief", ...onlyOf(only) })
      .catch((error: unknown) => {
        if (!(error instanceof NodeUnavailableError)) throw error;
        return [undefined];
      });
    if (answer !== undefined && "value" in answer) return answer.value;
    if (answer?.error.code === methodNotFound) isOffered = false;
    singly = singlyMax;
    return undefined;
  }

  async function read(block: ReceiptBlock, hashes: readonly string[], tokens: TokenIndex, only?: Only) {
    const found = new Map<string, NodeReceipt | UnreadableReceipt>();
    if (hashes.length === 0) return found;
    const isWhole = isOffered && hashes.length >= wholeBlockMin && singly-- <= 0;
    const whole = isWhole ? await readBlockReceipts(block, tokens, only) : undefined;
    const receipts = whole ?? (await readSingly(deps, block.hash, hashes, tokens, only));
    for (const receipt of receipts) found.set(receipt.hash, receipt);
    for (const hash of hashes)
      if (refused.get(hash)?.isGivenUp === true) found.set(hash, { hash, unreadable });
    return found;
  }

  function giveUp(hash: string, isComplete: boolean): boolean {
    const nowMs = monotonicMs();
    const { sinceMs } = refused.get(hash) ?? { sinceMs: nowMs };
    const isGivenUp = isComplete || nowMs - sinceMs >= awaitedMs;
    refused.set(hash, { sinceMs, isGivenUp });
    const [first] = refused.keys();
    if (refused.size > refusedMax && first !== undefined) refused.delete(first);
    return isGivenUp;
  }

  return { read, giveUp };
}

interface SingleDeps extends Pick<ReceiptReader, "giveUp"> {
  readonly pool: RpcPool;
}

/**
 * In parts, each twice as large as the one before it: a node can make up a block with 145,000 transactions that concern us, and the other nodes would be
 * asked for all of them in each step. They lack one in the first part.
 */
async function readSingly(
  { pool, giveUp }: SingleDeps,
  blockHash: string,
  hashes: readonly string[],
  tokens: TokenIndex,
  only: Only,
): Promise<readonly (NodeReceipt | UnreadableReceipt)[]> {
  const refused: string[] = [];
  const receipts: (NodeReceipt | UnreadableReceipt)[] = [];
  for (let start = 0; start < hashes.length; start = 2 * start + firstPart) {
    const part = hashes.slice(start, 2 * start + firstPart);
    const questions = part.map((hash) => receiptQuestion(hash, blockHash, tokens));
    for (const [index, answer] of (await pool.ask(questions, onlyOf(only))).entries()) {
      const hash = part[index] ?? "";
      if ("value" in answer && answer.value !== undefined) receipts.push(answer.value);
      else if ("error" in answer && isAnswerTooLarge(answer.error)) refused.push(hash);
      else {
        const who = only === undefined ? "no node" : [...only].join();
        const reason = "error" in answer ? describeError(answer.error) : `${who} has it`;
        throw new InconsistentError(
          `The receipt of transaction ${hash} of block ${blockHash} is not available: ${reason}.`,
          hash,
          "block",
        );
      }
    }
  }
  return refused.length === 0
    ? receipts
    : [...receipts, ...(await readRefused({ pool, giveUp }, blockHash, refused, tokens))];
}

/**
 * Receipts that a node calls too large. A wallet stands still if one of its payments is unreadable, so a single node of several does not decide
 * that: all are asked, also if only one is for the rest of the block. Those that do not answer are waited for, as in `giveUp`.
 */
async function readRefused(
  { pool, giveUp }: SingleDeps,
  blockHash: string,
  hashes: readonly string[],
  tokens: TokenIndex,
): Promise<readonly (NodeReceipt | UnreadableReceipt)[]> {
  const nodeCount = pool.endpoints.length;
  const required = requiredOpinions(0, nodeCount);
  const answered = await pool.askEach(hashes.map((hash) => receiptQuestion(hash, blockHash, tokens)));
  return hashes.map((hash, index) => {
    let refusals = 0;
    for (const { answers } of answered) {
      const answer = "unavailable" in answers ? undefined : answers[index];
      if (answer === undefined) continue;
      if ("value" in answer && answer.value !== undefined) return answer.value;
      if ("error" in answer && isAnswerTooLarge(answer.error)) refusals += 1;
    }
    if (refusals >= required && giveUp(hash, refusals === nodeCount)) return { hash, unreadable };
    throw new NodeUnavailableError(
      `The receipt of transaction ${hash} of block ${blockHash} is too large for ${refusals} of ${nodeCount} nodes, and the others do not give it.`,
    );
  });
}
