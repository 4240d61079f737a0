import { methodNotFound } from "../rpc/rpc-error.js";
import { AnswerFault, describeError, type Question, type RpcPool } from "../rpc/rpc-pool.js";
import { InconsistentError, type Only } from "./consistent-read.js";
import { readBounded, readHash, readList, readQuantity, readRecord } from "./read-values.js";
import { type NodeLog, readLog } from "./transfer-logs.js";

/** What executing a transaction came to. */
export interface NodeReceipt {
  readonly hash: string;
  readonly success: boolean;
  /** In wei, with everything that the sender was charged. */
  readonly fee: bigint;
  readonly logs: readonly NodeLog[];
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
export function receiptQuestion(hash: string, blockHash: string): Question<NodeReceipt> {
  return {
    method: "eth_getTransactionReceipt",
    params: [hash],
    read: (result) => {
      if (result === null) return undefined;
      const receipt = readReceipt(result);
      if (receipt.hash !== hash) throw new AnswerFault("the receipt is of another transaction");
      return receipt.blockHash === blockHash ? receipt : undefined;
    },
  };
}

/** Undefined if the node does not have the block, or other transactions in it. */
function blockReceiptsQuestion(block: ReceiptBlock): Question<readonly NodeReceipt[]> {
  return {
    method: "eth_getBlockReceipts",
    params: [block.hash],
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

export type ReadReceipts = (
  block: ReceiptBlock,
  hashes: readonly string[],
  only?: Only,
) => Promise<ReadonlyMap<string, NodeReceipt>>;

/** From so many on, one call for the whole block is cheaper than one for each. */
const wholeBlockMin = 8;

/** Only these nodes are asked, each of them once; or all of them, as often as usual. */
export function onlyOf(only: Only) {
  return only === undefined ? {} : { only, rounds: 1 };
}

/** The receipts of some transactions of a block; all of them, or an error. One that no node has contradicts the block. */
export function createReceiptReader(pool: RpcPool): ReadReceipts {
  /** Not all nodes have the method; a node that lacks it is not asked again. */
  let isOffered = true;

  async function readBlockReceipts(
    block: ReceiptBlock,
    only: Only,
  ): Promise<readonly NodeReceipt[] | undefined> {
    const [answer] = await pool.ask([blockReceiptsQuestion(block)], onlyOf(only));
    if ("value" in answer) return answer.value;
    if (answer.error.code === methodNotFound) isOffered = false;
    return undefined;
  }

  return async (block, hashes, only) => {
    if (hashes.length === 0) return new Map();
    const isMany = isOffered && hashes.length >= wholeBlockMin;
    const whole = isMany ? await readBlockReceipts(block, only) : undefined;
    const receipts = whole ?? (await readSingly(pool, block.hash, hashes, only));
    return new Map(receipts.map((receipt) => [receipt.hash, receipt]));
  };
}

async function readSingly(
  pool: RpcPool,
  blockHash: string,
  hashes: readonly string[],
  only: Only,
): Promise<readonly NodeReceipt[]> {
  const answers = await pool.ask(
    hashes.map((hash) => receiptQuestion(hash, blockHash)),
    onlyOf(only),
  );
  return answers.map((answer, index) => {
    if ("value" in answer && answer.value !== undefined) return answer.value;
    const hash = hashes[index] ?? "";
    const who = only === undefined ? "no node" : [...only].join();
    const reason = "error" in answer ? describeError(answer.error) : `${who} has it`;
    throw new InconsistentError(
      `The receipt of transaction ${hash} of block ${blockHash} is not available: ${reason}.`,
      hash,
      "block",
    );
  });
}
