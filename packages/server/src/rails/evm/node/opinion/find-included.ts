import { type BlockRef, type ChainNode, NodeUnavailableError } from "../../../../app/chain/chain-node.js";
import { describeError } from "../../rpc/rpc-error.js";
import {
  type Answer,
  AnswerFault,
  explainUnavailable,
  type Question,
  type RpcPool,
} from "../../rpc/rpc-pool.js";
import type { ReadAgreedHeaders } from "../agreed-headers.js";
import { type BlockWithLogs, selectOwn } from "../own-transfers.js";
import { blockHashesQuestion, type NodeTransaction, transactionQuestion } from "../read-block.js";
import { readHash, readNumber, readRecord } from "../read-values.js";
import type { ReadReceipts } from "../receipts.js";
import { indexTokens } from "../transfer-logs.js";
import type { SecondOpinion } from "./second-opinion.js";
import { groupOpinions, weighOpinions } from "./weigh-opinions.js";

interface IncludedDeps {
  readonly pool: RpcPool;
  readonly readAgreed: ReadAgreedHeaders;
  readonly readReceipts: ReadReceipts;
  readonly opinion: Pick<SecondOpinion, "confirmFinal" | "onOmission">;
}

interface Place extends BlockRef {
  readonly transaction: string;
}

/** How many transactions are asked for at once. */
const askedMax = 50;
const isNoLogKept = () => false;

/**
 * Which of our transactions are in final blocks that nobody has shown us. Every node is asked in which block it has each of them: unlike the search
 * for a nonce this needs no state of past blocks. What the larger group has is read and confirmed as if a block had shown it, and a node that denies it
 * is odd. Nothing else contradicts what a node leaves out of a block.
 */
export function createIncludedSearch({
  pool,
  readAgreed,
  readReceipts,
  opinion,
}: IncludedDeps): ChainNode["findIncluded"] {
  async function findSome(
    hashes: readonly string[],
    at: BlockRef,
    watched: Parameters<ChainNode["findIncluded"]>[2],
    beforeQuestion: () => Promise<void>,
  ): ReturnType<ChainNode["findIncluded"]> {
    await beforeQuestion();
    const named = (await findPlaces(pool, hashes)).filter(({ number }) => number <= at.number);
    if (named.length === 0) return [];
    await beforeQuestion();
    const places = await withoutDenied(pool, named);
    const numbers = [...new Set(places.map(({ number }) => number))];
    await beforeQuestion();
    const { headers } = await readAgreed(numbers);
    const blocks: BlockWithLogs[] = [];
    for (const header of headers) {
      const inBlock = places.filter(({ hash }) => hash === header.hash);
      await beforeQuestion();
      const transactions = await readTransactions(pool, inBlock);
      blocks.push({ block: { ...header, logsBloom: "0x", transactions }, logs: [] });
    }
    const tokens = indexTokens(watched);
    const watch = {
      ...{ tokens: watched, findOwned: async () => new Set<string>() },
      findAttempts: async (given: readonly string[]) => new Set(given),
    };
    await beforeQuestion();
    const shown = await selectOwn(blocks, watch, tokens, readReceipts);
    await beforeQuestion();
    await opinion.confirmFinal(shown, tokens);
    return shown.flatMap(({ number, hash, outcomes }) =>
      outcomes
        .filter(({ unreadable }) => unreadable === undefined)
        .map((outcome) => ({ block: { number, hash }, outcome })),
    );
  }

  return async (hashes, at, tokens, beforeQuestion) => {
    const [first] = pool.inOrder();
    const found: Awaited<ReturnType<typeof findSome>>[number][] = [];
    for (let start = 0; start < hashes.length; start += askedMax)
      found.push(...(await findSome(hashes.slice(start, start + askedMax), at, tokens, beforeQuestion)));
    if (found.length > 0) opinion.onOmission(pool.inOrder()[0] === first);
    return found;
  };
}

/**
 * The blocks that the larger group of nodes has them in. A node that does not have one counts as one that answers. If a node that does not answer could
 * make it the larger group, nothing is known yet: that the transaction is in no block can halt a wallet.
 */
async function findPlaces(pool: RpcPool, hashes: readonly string[]): Promise<readonly Place[]> {
  const answered = await pool.askEach(hashes.map(placeQuestion));
  return hashes.flatMap((transaction, index): Place[] => {
    const heard = answered.map(({ name, answers }) => {
      const answer = "unavailable" in answers ? answers : (answers[index] as Answer<Place>);
      return { name, answer: "error" in answer ? { unavailable: describeError(answer.error) } : answer };
    });
    const said = heard.flatMap(({ name, answer }) =>
      "value" in answer ? [{ name, value: answer.value }] : [],
    );
    const known = said.flatMap(({ name, value }) => (value === undefined ? [] : [{ name, value }]));
    const opinions = groupOpinions(known, ({ number, hash }) => `${number} ${hash}`);
    const verdict = weighOpinions(opinions, pool.endpoints.length, said.length);
    if (verdict.kind === "agreed") return [verdict.value];
    const isLacked = 2 * (said.length - known.length) > pool.endpoints.length;
    if (isLacked || said.length === heard.length) return [];
    const silent = heard.flatMap(({ name, answer }) =>
      "value" in answer ? [] : [{ name, answers: answer }],
    );
    throw new NodeUnavailableError(
      `Too few nodes say in which block transaction ${transaction} is${explainUnavailable(silent)}.`,
    );
  });
}

/**
 * A node that has no receipt can lag. One whose block lacks the transaction denies it, because the hash of the block leaves no choice. Without what half
 * of the nodes deny.
 */
async function withoutDenied(pool: RpcPool, places: readonly Place[]): Promise<readonly Place[]> {
  if (pool.endpoints.length < 2 || places.length === 0) return places;
  const blockHashes = [...new Set(places.map(({ hash }) => hash))];
  const answered = await pool.askEach(blockHashes.map(blockHashesQuestion));
  return places.filter(({ transaction, hash }) => {
    const denying = answered.flatMap(({ name, answers }) => {
      const answer = "unavailable" in answers ? undefined : answers[blockHashes.indexOf(hash)];
      const isLacking = answer !== undefined && "value" in answer && answer.value?.has(transaction) === false;
      return isLacking ? [name] : [];
    });
    if (2 * denying.length >= pool.endpoints.length) return false;
    if (denying.length > 0)
      pool.seeOdd(denying, `The others have transaction ${transaction} in the final block ${hash}.`);
    return true;
  });
}

function placeQuestion(transaction: string): Question<Place> {
  return {
    method: "eth_getTransactionReceipt",
    ...{ params: [transaction], isLogKept: isNoLogKept },
    read: (result) => {
      if (result === null) return undefined;
      const receipt = readRecord(result, "the receipt");
      if (readHash(receipt["transactionHash"], "transactionHash") !== transaction)
        throw new AnswerFault("the receipt is of another transaction");
      const hash = readHash(receipt["blockHash"], "blockHash");
      return { transaction, hash, number: readNumber(receipt["blockNumber"], "blockNumber") };
    },
  };
}

async function readTransactions(pool: RpcPool, places: readonly Place[]): Promise<NodeTransaction[]> {
  const questions = places.map(({ transaction, hash }) => transactionQuestion(transaction, hash));
  const answers = await pool.ask(questions);
  return places.map(({ transaction, hash }, index) => {
    const answer = answers[index];
    if (answer !== undefined && "value" in answer && answer.value !== undefined) return answer.value;
    throw new NodeUnavailableError(`No node gives transaction ${transaction} of the final block ${hash}.`);
  });
}
