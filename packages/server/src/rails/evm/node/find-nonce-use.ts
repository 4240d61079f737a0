import { type BlockHeader, type ChainNode, NodeUnavailableError } from "../../../app/chain/chain-node.js";
import type { NonceUse } from "../../../app/chain/nonce-use.js";
import { toQuantity } from "../keccak.js";
import { AnswerFault, type Question, type RpcPool } from "../rpc/rpc-pool.js";
import { encodeSigned, hashOfSigned } from "../transaction/encode-signed.js";
import type { ReadAgreedHeaders } from "./agreed-headers.js";
import { createNonceBlocks } from "./find-nonce-block.js";
import type { SecondOpinion } from "./opinion/second-opinion.js";
import { groupOpinions, weighOpinions } from "./opinion/weigh-opinions.js";
import { selectOwn } from "./own-transfers.js";
import { type NodeBlock, type NodeTransaction, readBlock } from "./read-block.js";
import { readBounded, readData, readList, readNumber, readQuantity, readRecord } from "./read-values.js";
import type { ReadReceipts } from "./receipts.js";
import { indexTokens } from "./transfer-logs.js";

interface NonceSearchDeps extends Pick<ChainNode, "noncesAt"> {
  readonly pool: RpcPool;
  readonly readAgreed: ReadAgreedHeaders;
  readonly readReceipts: ReadReceipts;
  readonly opinion: Pick<SecondOpinion, "confirmFinal" | "dispute" | "agree">;
}

interface Sender {
  readonly address: string;
  readonly nonce: number;
}

/** A block, and its transaction with the nonce, if it has one. */
interface SearchedBlock {
  readonly block: NodeBlock;
  readonly found: { readonly transaction: NodeTransaction; readonly signed: NonceUse["signed"] } | undefined;
}

/**
 * Which transaction has used a nonce. The block is found by how many transactions of the address there were after a block, and then every node
 * is asked for all of that block. A transaction that one node leaves out and another has is a contradiction about a final block, and the network
 * halts, unless a larger group of nodes agrees. Nothing follows from a block that a single one of several nodes has given.
 */
export function createNonceSearch(deps: NonceSearchDeps): ChainNode["findNonceUse"] {
  const { pool, readAgreed, noncesAt, readReceipts, opinion } = deps;
  const requiredCount = Math.min(2, pool.endpoints.length);
  const nonceBlocks = createNonceBlocks({
    noncesAt,
    header: async (number) => (await readAgreed([number])).headers[0],
  });
  const search: ChainNode["findNonceUse"] = async (sender, at, watched, beforeQuestion) => {
    const header = await nonceBlocks.find(sender, at.number, beforeQuestion);
    if (header === undefined) return undefined;
    await beforeQuestion();
    const answered = await pool.askEach([searchQuestion(header, sender)]);
    const searched = answered.flatMap(({ name, answers }) => {
      const [answer] = "unavailable" in answers ? [] : answers;
      const value = answer !== undefined && "value" in answer ? answer.value : undefined;
      return value === undefined ? [] : [{ name, value }];
    });
    const verdict = weighOpinions(groupOpinions(searched, keyOfFound), pool.endpoints.length);
    const what = `the transaction of ${sender.address} with nonce ${sender.nonce} in the final block ${header.hash}`;
    if (verdict.kind === "unsure")
      throw new NodeUnavailableError(
        `${requiredCount} nodes must give all of block ${header.number}, and ${searched.length} did.`,
      );
    if (verdict.kind === "disputed") {
      const reason = `Two nodes disagree about ${what}.`;
      opinion.dispute(reason, searched.length === pool.endpoints.length, header.hash);
      throw new NodeUnavailableError(reason);
    }
    opinion.agree(header.hash);
    const { value: first, others } = verdict;
    if (others.length > 0) pool.seeOdd(others, `The others agree about ${what}.`);
    if (first.found === undefined) return undefined;
    const tokens = indexTokens(watched);
    const watch = {
      ...{ tokens: watched, findOwned: async () => new Set<string>() },
      findAttempts: async () => new Set([first.found?.transaction.hash ?? ""]),
    };
    const blocks = await selectOwn([{ block: first.block, logs: [] }], watch, tokens, readReceipts);
    await opinion.confirmFinal(blocks, tokens);
    const [outcome] = blocks.flatMap(({ outcomes }) => outcomes);
    // Without its receipt nothing says what it has done.
    if (outcome === undefined || outcome.unreadable !== undefined) return undefined;
    const { number, hash: blockHash } = header;
    return { block: { number, hash: blockHash }, outcome, signed: first.found.signed };
  };
  return async (sender, ...given) => {
    const use = await search(sender, ...given);
    if (use === undefined) nonceBlocks.forget(sender.address);
    return use;
  };
}

/** With what it pays: not every kind of transaction is checked against its hash. */
function keyOfFound({ found }: SearchedBlock): string {
  if (found === undefined) return "none";
  const { hash, from, to, value } = found.transaction;
  return `${hash} ${from} ${to} ${value}`;
}

function searchQuestion({ hash }: BlockHeader, sender: Sender): Question<SearchedBlock> {
  return {
    method: "eth_getBlockByHash",
    params: [hash, true],
    read: (result) => {
      if (result === null) return undefined;
      const block = readBlock(result);
      if (block.hash !== hash) throw new AnswerFault(`block ${block.hash} instead of ${hash}`);
      const items = readList(readRecord(result, "the block")["transactions"], "transactions");
      const index = block.transactions.findIndex(
        ({ from }, at) => from === sender.address && nonceOf(items[at]) === sender.nonce,
      );
      const transaction = block.transactions[index];
      const found =
        transaction === undefined
          ? undefined
          : { transaction, signed: readSigned(items[index], transaction) };
      return { block, found };
    },
  };
}

function nonceOf(item: unknown): number {
  return readNumber(readRecord(item, "a transaction")["nonce"], "nonce");
}

/** The bytes of a transaction of the kind that the signer makes. They must have the hash that the node names. */
function readSigned(item: unknown, { hash, to, value }: NodeTransaction): NonceUse["signed"] {
  const fields = readRecord(item, "a transaction");
  const accessList = fields["accessList"] ?? [];
  const isPlain = fields["type"] === toQuantity(2) && Array.isArray(accessList) && accessList.length === 0;
  if (!isPlain || to === null) return null;
  const terms = {
    gasLimit: readBounded(fields["gas"], "gas", 64),
    maxFeePerGas: readBounded(fields["maxFeePerGas"], "maxFeePerGas", 96),
    maxPriorityFeePerGas: readBounded(fields["maxPriorityFeePerGas"], "maxPriorityFeePerGas", 96),
  };
  const bytes = encodeSigned({
    ...{ ...terms, to, value, data: readData(fields["input"], "input") },
    ...{ chainId: readQuantity(fields["chainId"], "chainId"), nonce: readQuantity(fields["nonce"], "nonce") },
    yParity: readQuantity(fields["yParity"] ?? fields["v"], "yParity"),
    ...{ r: readQuantity(fields["r"], "r"), s: readQuantity(fields["s"], "s") },
  });
  if (hashOfSigned(bytes) !== hash) throw new AnswerFault("a transaction does not have its hash");
  return { bytes, terms };
}
