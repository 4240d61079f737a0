import type { BlockHeader } from "../../../app/chain/chain-node.js";
import { toQuantity } from "../keccak.js";
import { AnswerFault, type Question } from "../rpc/rpc-pool.js";
import {
  readAddress,
  readBounded,
  readData,
  readHash,
  readList,
  readNumber,
  readQuantity,
  readRecord,
} from "./read-values.js";

/** A block as a node has it, with all its transactions. */
export interface NodeBlock extends BlockHeader {
  readonly logsBloom: string;
  readonly transactions: readonly NodeTransaction[];
}

export interface NodeTransaction {
  readonly hash: string;
  readonly from: string;
  /** Null if it creates a contract. */
  readonly to: string | null;
  readonly value: bigint;
}

export type BlockTag = "latest" | "safe" | "finalized";

export function headerQuestion(block: number | BlockTag): Question<BlockHeader> {
  const named = typeof block === "number" ? toQuantity(block) : block;
  return {
    method: "eth_getBlockByNumber",
    ...{ params: [named, false], cut: "transactions" },
    read: (result) => {
      if (result === null) return undefined;
      const header = readHeader(readRecord(result, "the block"));
      if (typeof block === "number" && header.number !== block)
        throw new AnswerFault(`block ${header.number} instead of ${block}`);
      return header;
    },
  };
}

/** `number`: undefined if it is not known. A block with this hash and another number is not the one that is asked for. */
export function blockByHashQuestion(hash: string, number?: number): Question<NodeBlock> {
  return {
    method: "eth_getBlockByHash",
    ...{ params: [hash, true], cut: "text" },
    read: (result) => {
      if (result === null) return undefined;
      const block = readBlock(result);
      if (block.hash !== hash) throw new AnswerFault(`block ${block.hash} instead of ${hash}`);
      return number === undefined || block.number === number ? block : undefined;
    },
  };
}

/** `agreed`: which block it must be, if that is known. */
export function blockByNumberQuestion(number: number, agreed?: BlockHeader): Question<NodeBlock> {
  return {
    method: "eth_getBlockByNumber",
    ...{ params: [toQuantity(number), true], cut: "text" },
    read: (result) => {
      if (result === null) return undefined;
      const block = readBlock(result);
      if (block.number !== number) throw new AnswerFault(`block ${block.number} instead of ${number}`);
      if (agreed !== undefined && (block.hash !== agreed.hash || block.parentHash !== agreed.parentHash))
        throw new AnswerFault(`block ${block.hash} instead of ${agreed.hash}, which is final`);
      return block;
    },
  };
}

export function headerByHashQuestion(hash: string): Question<BlockHeader> {
  return {
    method: "eth_getBlockByHash",
    ...{ params: [hash, false], cut: "transactions" },
    read: (result) => {
      if (result === null) return undefined;
      const header = readHeader(readRecord(result, "the block"));
      if (header.hash !== hash) throw new AnswerFault(`block ${header.hash} instead of ${hash}`);
      return header;
    },
  };
}

/** Which transactions a block has. */
export function blockHashesQuestion(hash: string): Question<ReadonlySet<string>> {
  return {
    method: "eth_getBlockByHash",
    params: [hash, false],
    read: (result) => {
      if (result === null) return undefined;
      const block = readRecord(result, "the block");
      if (readHash(block["hash"], "the hash of the block") !== hash)
        throw new AnswerFault(`another block instead of ${hash}`);
      const items = readList(block["transactions"], "transactions");
      return new Set(items.map((item) => readHash(item, "the hash of a transaction")));
    },
  };
}

/** Undefined if the node does not have it in this block. */
export function transactionQuestion(hash: string, blockHash: string): Question<NodeTransaction> {
  return {
    method: "eth_getTransactionByHash",
    params: [hash],
    read: (result) => {
      if (result === null) return undefined;
      const transaction = readTransaction(result);
      if (transaction.hash !== hash) throw new AnswerFault("the transaction is another one");
      // Null while it is in no block.
      const found = readRecord(result, "the transaction")["blockHash"] ?? null;
      if (found === null || readHash(found, "blockHash") !== blockHash) return undefined;
      return transaction;
    },
  };
}

function readHeader(block: Record<string, unknown>): BlockHeader {
  const hash = readHash(block["hash"], "the hash of the block");
  const parentHash = readHash(block["parentHash"], "parentHash");
  if (parentHash === hash) throw new AnswerFault(`block ${hash} names itself as its parent`);
  return {
    number: readNumber(block["number"], "the number of the block"),
    ...{ hash, parentHash },
    timeMs: readNumber(block["timestamp"], "timestamp") * 1000,
    // Blocks from before EIP-1559, such as the first one of Ethereum, have none.
    baseFee: readBounded(block["baseFeePerGas"] ?? "0x0", "baseFeePerGas", 96),
  };
}

const bloomLength = 2 + 2 * 256;

export function readBlock(result: unknown): NodeBlock {
  const block = readRecord(result, "the block");
  const logsBloom = readData(block["logsBloom"], "logsBloom");
  if (logsBloom.length !== bloomLength) throw new AnswerFault("logsBloom does not have 256 bytes");
  const transactions = readList(block["transactions"], "transactions").map(readTransaction);
  // Small deposits are credited as a sum, so a transfer that a node states twice would count twice: the other nodes confirm each one.
  if (new Set(transactions.map(({ hash }) => hash)).size !== transactions.length)
    throw new AnswerFault("the block has a transaction twice");
  return { ...readHeader(block), logsBloom, transactions };
}

function readTransaction(value: unknown): NodeTransaction {
  const transaction = readRecord(value, "a transaction");
  const to = transaction["to"] ?? null;
  return {
    hash: readHash(transaction["hash"], "the hash of a transaction"),
    from: readAddress(transaction["from"], "from"),
    to: to === null ? null : readAddress(to, "to"),
    value: readQuantity(transaction["value"], "value"),
  };
}
