import { type BlockHeader, NodeUnavailableError } from "../../../app/chain/chain-node.js";
import { OperatorError } from "../../../operator-error.js";
import { toQuantity } from "../keccak.js";
import { type Answer, AnswerFault, describeError, type Question, type RpcPool } from "../rpc/rpc-pool.js";
import { readWord } from "./chain-state.js";
import { gasPriceOracle } from "./data-fee.js";
import { headerQuestion } from "./read-block.js";
import { readData, readQuantity, readRecord } from "./read-values.js";
import { chainIdQuestion, explainFinalHead, type Finality } from "./watch/look-at-nodes.js";

/** What does not change about a network, as its nodes say it. */
export interface NetworkFacts {
  genesisHash: string;
}

export interface ProbeDeps {
  readonly network: string;
  readonly chainId: number;
  readonly finality: Finality;
  readonly hasDataFee: boolean;
  readonly tokens: readonly {
    readonly asset: string;
    readonly contract: string;
    readonly decimals: number;
  }[];
  readonly pool: RpcPool;
}

/**
 * Compares the configuration with what the nodes say, at the start. A contradiction is an `OperatorError`; if no node answers it is a
 * `NodeUnavailableError`, which is no reason not to start.
 */
export function createProbe(deps: ProbeDeps): () => Promise<NetworkFacts> {
  return async () => {
    const { genesisHash, finalNumber } = await probeNodes(deps);
    await probeState(deps, finalNumber);
    await probeDataFee(deps);
    await probeTokens(deps);
    return { genesisHash };
  };
}

interface ProbedNodes extends NetworkFacts {
  /** The lowest block that a node calls final. */
  readonly finalNumber: number;
}

/** Every node that answers must be on the same chain, and name a final block. */
async function probeNodes({ network, chainId, finality, pool }: ProbeDeps): Promise<ProbedNodes> {
  const tag = "tag" in finality ? finality.tag : "latest";
  const questions = [
    chainIdQuestion,
    headerQuestion(0),
    headerQuestion("latest"),
    headerQuestion(tag),
    baseFeeQuestion,
  ] as const;
  const names = new Map<string, string>();
  let finalNumber = Number.POSITIVE_INFINITY;
  const reasons: string[] = [];
  for (const { name, answers } of await pool.askEach(questions)) {
    if ("unavailable" in answers) {
      reasons.push(`${name}: ${answers.unavailable}`);
      continue;
    }
    const [id, genesis, latest, final, hasBaseFee] = answers;
    if ("value" in id && id.value !== chainId)
      throw new OperatorError(
        `${name} is on chain ${id.value}, and the network is configured as chain ${chainId}. Correct its rpc_urls.`,
      );
    if ("value" in hasBaseFee && hasBaseFee.value === false)
      throw new OperatorError(
        `${name} has blocks without a base fee: Bursar needs a network with transactions of EIP-1559.`,
      );
    if ("tag" in finality) refuseFinality(name, finality.tag, latest, final);
    if ("value" in genesis && genesis.value !== undefined) names.set(genesis.value.hash, name);
    if ("value" in final && final.value !== undefined)
      finalNumber = Math.min(finalNumber, final.value.number - ("depth" in finality ? finality.depth : 0));
  }
  const [first, second] = [...names];
  if (first === undefined)
    throw new NodeUnavailableError(`No node of ${network} gives its first block: ${reasons.join("; ")}.`);
  if (second !== undefined)
    throw new OperatorError(
      `${first[1]} and ${second[1]} have different first blocks, so they are on different chains. Correct the rpc_urls.`,
    );
  return { genesisHash: first[0], finalNumber: Math.max(0, finalNumber) };
}

/** Any address will do: a node that does not keep the state of a block has no balances of it. */
const nobody = `0x${"0".repeat(40)}`;

/**
 * Balances and nonces are compared at the final block. Many nodes keep the state of 128 blocks only, and the final block of some networks is
 * further behind than that.
 */
async function probeState({ network, pool }: ProbeDeps, finalNumber: number): Promise<void> {
  if (!Number.isFinite(finalNumber)) return;
  const question = {
    method: "eth_getBalance",
    params: [nobody, toQuantity(finalNumber)],
    read: (result: unknown) => readQuantity(result, "the balance"),
  };
  const refused = async () =>
    (await pool.askEach([question])).flatMap(({ name, answers }) =>
      "unavailable" in answers || !("error" in answers[0]) ? [] : [{ name, error: answers[0].error }],
    );
  // Of a load balancer, a node that lags may have answered.
  const [first] = (await refused()).length === 0 ? [] : await refused();
  if (first === undefined) return;
  throw new OperatorError(
    `${first.name} does not have the state of block ${finalNumber}, which is final (${describeError(first.error)}). The balances on ${network} are compared there: use a node that keeps the state of final blocks, such as an archive node.`,
  );
}

const baseFeeQuestion: Question<boolean> = {
  ...headerQuestion("latest"),
  // A node that does not name its newest block now says nothing about fees.
  read: (result) =>
    result === null ? undefined : readRecord(result, "the block")["baseFeePerGas"] !== undefined,
};

function refuseFinality(
  name: string,
  tag: string,
  latest: Answer<BlockHeader>,
  final: Answer<BlockHeader>,
): void {
  if ("error" in final || final.value === undefined) {
    const reason = "error" in final ? ` (${describeError(final.error)})` : "";
    throw new OperatorError(
      `${name} does not name a \`${tag}\` block${reason}. Configure a number of blocks as the finality of this network.`,
    );
  }
  if ("value" in latest && latest.value !== undefined && latest.value.number > 0)
    if (final.value.number >= latest.value.number)
      throw new OperatorError(explainFinalHead(name, tag, latest.value.number));
}

function codeQuestion(address: string): Question<boolean> {
  return {
    method: "eth_getCode",
    params: [address, "latest"],
    read: (result) => readData(result, "the code").length > 2,
  };
}

/** Fees that are charged and not reserved would be missing in the wallet. */
async function probeDataFee({ network, hasDataFee, pool }: ProbeDeps): Promise<void> {
  const [code] = await pool.ask([codeQuestion(gasPriceOracle)]);
  if (!("value" in code) || code.value === hasDataFee) return;
  throw new OperatorError(
    hasDataFee
      ? `${network} is configured with a data fee, but it has no contract that gives one (${gasPriceOracle}). Remove data_fee.`
      : `${network} is a chain of the OP stack, which charges a data fee. Set data_fee to true.`,
  );
}

/** The first four bytes of the hash of `decimals()`. */
const decimalsSelector = "0x313ce567";

function decimalsQuestion(contract: string): Question<bigint> {
  return {
    method: "eth_call",
    params: [{ to: contract, data: decimalsSelector }, "latest"],
    read: (result) => {
      const decimals = readWord(result, "decimals()");
      if (decimals > 255n) throw new AnswerFault("decimals() is above 255");
      return decimals;
    },
  };
}

async function probeTokens({ network, tokens, pool }: ProbeDeps): Promise<void> {
  const codes = await pool.ask(tokens.map(({ contract }) => codeQuestion(contract)));
  for (const [index, { asset, contract }] of tokens.entries()) {
    const code = codes[index] as Answer<boolean>;
    if ("value" in code && code.value === false)
      throw new OperatorError(
        `${asset} is configured as the token ${contract}, but there is no contract at this address on ${network}.`,
      );
  }
  const answers = await pool.ask(tokens.map(({ contract }) => decimalsQuestion(contract)));
  for (const [index, { asset, contract, decimals }] of tokens.entries()) {
    const answer = answers[index] as Answer<bigint>;
    const found = "value" in answer ? answer.value : undefined;
    if (found !== BigInt(decimals))
      throw new OperatorError(
        `${asset} is configured with ${decimals} decimals, but the token ${contract} on ${network} has ${found ?? "no decimals()"}. Correct its decimals.`,
      );
  }
}
