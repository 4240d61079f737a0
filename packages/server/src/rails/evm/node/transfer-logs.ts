import type { ChainToken, ObservedTransfer } from "../../../app/chain/chain-node.js";
import { toQuantity } from "../keccak.js";
import type { IsLogKept } from "../rpc/answers/log-filter.js";
import { AnswerFault, type Question } from "../rpc/rpc-pool.js";
import { type BloomItem, bloomItem, mayContain } from "./logs-bloom.js";
import { readAddress, readData, readHash, readList, readNumber, readRecord } from "./read-values.js";

/** The hash of `Transfer(address,address,uint256)`. */
const transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

export interface NodeLog {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly hash: string;
  readonly blockHash: string;
  /** Its place in the block. It changes if the transaction is included again elsewhere, so it only orders. */
  readonly index: number;
}

export function readLog(value: unknown): NodeLog {
  const log = readRecord(value, "a log");
  if (log["removed"] === true) throw new AnswerFault("a log was removed by a reorganisation");
  return {
    address: readAddress(log["address"], "the address of a log"),
    topics: readList(log["topics"], "topics").map((topic) => readHash(topic, "a topic")),
    data: readData(log["data"], "data"),
    hash: readHash(log["transactionHash"], "transactionHash"),
    blockHash: readHash(log["blockHash"], "blockHash"),
    index: readNumber(log["logIndex"], "logIndex"),
  };
}

/** The tokens of a network, by their contracts, and how to find their transfers. */
export interface TokenIndex {
  readonly assetOf: ReadonlyMap<string, string>;
  readonly contracts: readonly string[];
  readonly bloomItems: readonly BloomItem[];
  /** Whether it can be a transfer of one of them. */
  readonly isLogKept: IsLogKept;
}

const topicItem = bloomItem(transferTopic);

export function indexTokens(tokens: readonly ChainToken[]): TokenIndex {
  const assetOf = new Map<string, string>();
  for (const { asset, contract } of tokens) if (contract !== null) assetOf.set(contract, asset);
  const contracts = [...assetOf.keys()];
  const isLogKept: IsLogKept = (value) => {
    const { address, topics } = readLog(value);
    return assetOf.has(address) && topics[0] === transferTopic;
  };
  return { assetOf, contracts, bloomItems: contracts.map(bloomItem), isLogKept };
}

/** Whether the filter of a block allows that it has transfers of the tokens. */
export function mayHaveTransfers(logsBloom: string, { bloomItems }: TokenIndex): boolean {
  return mayContain(logsBloom, topicItem) && bloomItems.some((item) => mayContain(logsBloom, item));
}

/** Whether the filter of a block allows that it has a transfer to this address. */
export function mayHaveRecipient(logsBloom: string, address: string): boolean {
  return mayContain(logsBloom, bloomItem(`0x${address.slice(2).padStart(64, "0")}`));
}

export function blockLogsQuestion(blockHash: string, tokens: TokenIndex): Question<readonly NodeLog[]> {
  return {
    method: "eth_getLogs",
    ...{ params: [{ blockHash, address: tokens.contracts, topics: [transferTopic] }], cut: "text" },
    read: (result) => {
      const logs = readLogs(result, tokens);
      if (logs.some((log) => log.blockHash !== blockHash)) throw new AnswerFault("a log of another block");
      return logs;
    },
  };
}

export function rangeLogsQuestion(
  from: number,
  to: number,
  tokens: TokenIndex,
  blockHashes: ReadonlySet<string>,
): Question<readonly NodeLog[]> {
  const range = { fromBlock: toQuantity(from), toBlock: toQuantity(to) };
  return {
    method: "eth_getLogs",
    ...{ params: [{ ...range, address: tokens.contracts, topics: [transferTopic] }], cut: "text" },
    read: (result) => {
      const logs = readLogs(result, tokens);
      if (logs.some(({ blockHash }) => !blockHashes.has(blockHash)))
        throw new AnswerFault("a log of another block");
      return logs;
    },
  };
}

function readLogs(result: unknown, { assetOf }: TokenIndex): readonly NodeLog[] {
  const logs = readList(result, "the logs").map(readLog);
  for (const { address, topics } of logs)
    if (!assetOf.has(address) || topics[0] !== transferTopic)
      throw new AnswerFault("a log that was not asked for");
  return logs;
}

/**
 * The transfers of tokens that logs show, with their ordinals within their transactions. A log of a token that is not a transfer of
 * ERC-20, such as one of a collectible with a fourth topic, does not count.
 */
export function transfersOf(logs: readonly NodeLog[], { assetOf }: TokenIndex): ObservedTransfer[] {
  const counts = new Map<string, number>();
  const ordered = [...logs].sort((a, b) => a.index - b.index);
  return ordered.flatMap(({ address, topics, data, hash }) => {
    const asset = assetOf.get(address);
    const [topic, from, to] = topics;
    const isTransfer = topic === transferTopic && topics.length === 3 && data.length === 66;
    if (asset === undefined || !isTransfer || from === undefined || to === undefined) return [];
    const ordinal = (counts.get(hash) ?? 0) + 1;
    counts.set(hash, ordinal);
    return { hash, ordinal, asset, from: addressOf(from), to: addressOf(to), amount: BigInt(data) };
  });
}

function addressOf(topic: string): string {
  return `0x${topic.slice(-40)}`;
}

/** A transfer within its transaction. */
export function lineOf({ ordinal, asset, from, to, amount }: ObservedTransfer): string {
  return `${ordinal} ${asset} ${from} ${to} ${amount}`;
}
