import {
  type BlockRef,
  type ChainNode,
  NodesDisagreeError,
  NodeUnavailableError,
} from "../../../app/chain/chain-node.js";
import { toQuantity } from "../keccak.js";
import { AnswerFault, explainUnavailable, type Question, type RpcPool } from "../rpc/rpc-pool.js";
import { word } from "../transaction/transfer-call.js";
import { groupOpinions, weighOpinions } from "./opinion/weigh-opinions.js";
import { headerQuestion } from "./read-block.js";
import { readData, readNumber, readQuantity } from "./read-values.js";

/** The first four bytes of the hash of `balanceOf(address)`. */
const balanceOfSelector = "0x70a08231";
/** How many accounts are asked for together with one look at the block. */
const accountsMax = 99;

function balanceQuestion(
  { address, contract }: { readonly address: string; readonly contract: string | null },
  block: string,
): Question<bigint> {
  if (contract === null)
    return {
      method: "eth_getBalance",
      params: [address, block],
      read: (result) => readQuantity(result, "the balance"),
    };
  const call = { to: contract, data: `${balanceOfSelector}${word(BigInt(address))}` };
  return {
    method: "eth_call",
    params: [call, block],
    read: (result) => readWord(result, "the balance of a token"),
  };
}

/** What a contract returns as one number of 32 bytes. */
export function readWord(result: unknown, name: string): bigint {
  const data = readData(result, name);
  if (data.length !== 66) throw new AnswerFault(`${name} is not one number`);
  return BigInt(data);
}

/** The values from one node; if there are several, as the larger group of them says. */
async function askAgreeing<T>(
  pool: RpcPool,
  at: BlockRef,
  questions: readonly Question<T>[],
): Promise<readonly T[]> {
  if (pool.endpoints.length < 2) return await pool.askOneNode(questions);
  const answered = await pool.askEach(questions);
  const complete = answered.flatMap(({ name, answers }) => {
    if ("unavailable" in answers) return [];
    const values = answers.flatMap((answer) =>
      "value" in answer && answer.value !== undefined ? [answer.value as T] : [],
    );
    return values.length === questions.length ? [{ name, values }] : [];
  });
  if (complete.length < 2)
    throw new NodeUnavailableError(
      `Two nodes must give the state after block ${at.number}, and ${complete.length} did${explainUnavailable(answered)}.`,
    );
  return questions.map((_, index) => {
    const said = complete.map(({ name, values }) => ({ name, value: values[index] as T }));
    const verdict = weighOpinions(
      groupOpinions(said, (value) => value),
      pool.endpoints.length,
    );
    if (verdict.kind === "agreed") {
      if (verdict.others.length > 0)
        pool.seeOdd(verdict.others, `The others agree about the state after block ${at.number}.`);
      return verdict.value;
    }
    const [one, other] = verdict.kind === "disputed" ? verdict.between : [];
    throw new NodesDisagreeError(
      `${one?.names[0]} and ${other?.names[0]} disagree about the state after block ${at.number}.`,
    );
  });
}

/**
 * Balances and nonces after a block. The state is named by the number of the block, which all nodes understand, and the node that answers
 * must have this very block there.
 */
export function createStateReader(pool: RpcPool): Pick<ChainNode, "balances" | "noncesAt"> {
  async function readAfter<T extends bigint | number>(
    at: BlockRef,
    questions: readonly Question<T>[],
  ): Promise<readonly T[]> {
    const values: T[] = [];
    const header = headerQuestion(at.number);
    const check: Question<true> = {
      ...header,
      read: (result) => {
        const hash = header.read(result)?.hash;
        if (hash !== undefined && hash !== at.hash) throw new AnswerFault(`block ${at.number} is ${hash}`);
        return hash === undefined ? undefined : true;
      },
    };
    for (let start = 0; start < questions.length; start += accountsMax) {
      const part = questions.slice(start, start + accountsMax);
      const [, ...found] = await askAgreeing<T | true>(pool, at, [check, ...part]);
      values.push(...(found as T[]));
    }
    return values;
  }

  return {
    balances: (accounts, at) =>
      readAfter(
        at,
        accounts.map((account) => balanceQuestion(account, toQuantity(at.number))),
      ),
    noncesAt: (addresses, at) =>
      readAfter(
        at,
        addresses.map((address) => ({
          method: "eth_getTransactionCount",
          params: [address, toQuantity(at.number)],
          read: (result) => readNumber(result, "the nonce"),
        })),
      ),
  };
}
