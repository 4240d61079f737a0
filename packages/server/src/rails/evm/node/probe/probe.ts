import type { BlockHeader } from "../../../../app/chain/chain-node.js";
import type { Timers } from "../../../../runtime/loops/timers.js";
import { toQuantity } from "../../keccak.js";
import { describeError, isRevert } from "../../rpc/rpc-error.js";
import {
  type Answer,
  AnswerFault,
  type NodeAnswers,
  type Question,
  type RpcPool,
} from "../../rpc/rpc-pool.js";
import { readWord } from "../chain-state.js";
import { gasPriceOracle } from "../data-fee.js";
import { groupOpinions, requiredOpinions } from "../opinion/weigh-opinions.js";
import { headerQuestion } from "../read-block.js";
import { readData, readQuantity, readRecord } from "../read-values.js";
import { chainIdQuestion, explainFinalHead, type Finality } from "../watch/look-at-nodes.js";
import { askAgain } from "./ask-again.js";
import { createProbeVotes, type ProbeVotes } from "./probe-votes.js";

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
  readonly timers: Pick<Timers, "after">;
}

/**
 * Compares the configuration with what the nodes say, at the start. It is an `OperatorError` as soon as no larger group of nodes can be as
 * configured: a single one of three that is wrong, behind or silent refuses nothing. Returns a sentence for each of these. If no node answers it is
 * a `NodeUnavailableError`, which is no reason not to start. `knownGenesis`: the first block of the chain that the database was used with.
 */
export type Probe = (knownGenesis?: string) => Promise<readonly string[]>;

export function createProbe(deps: ProbeDeps): Probe {
  return async (knownGenesis) => {
    const votes = createProbeVotes(deps.pool.endpoints.map(({ name }) => name));
    const finalNumbers = await probeNodes(deps, votes, knownGenesis);
    await probeState(deps, votes, finalNumbers);
    await probeDataFee(deps, votes);
    await probeTokens(deps, votes);
    return votes.sentences();
  };
}

type Given = NodeAnswers<readonly Question<unknown>[]>;

/** Every node must be on the same chain, and name a final block. Returns the number of that block, of nodes that are as configured. */
async function probeNodes(
  { network, chainId, finality, pool, timers }: ProbeDeps,
  votes: ProbeVotes,
  knownGenesis: string | undefined,
): Promise<ReadonlyMap<string, number>> {
  const tag = "tag" in finality ? finality.tag : "latest";
  const questions = [
    chainIdQuestion,
    headerQuestion(0),
    headerQuestion("latest"),
    headerQuestion(tag),
    baseFeeQuestion,
  ] as const;
  const finalNumbers = new Map<string, number>();
  const firstHashes: { name: string; value: string }[] = [];
  const explain = ({ name, answers }: NodeAnswers<typeof questions>) =>
    "unavailable" in answers || !("tag" in finality)
      ? undefined
      : explainFinality(name, finality.tag, answers[2], answers[3]);
  const isInDoubt = (given: NodeAnswers<typeof questions>) =>
    explain(given) !== undefined || (!("unavailable" in given.answers) && "error" in given.answers[3]);
  for (const given of await askAgain({ pool, timers }, questions, isInDoubt)) {
    const { name, answers } = given;
    if ("unavailable" in answers) {
      votes.miss(name, answers.unavailable);
      continue;
    }
    const [id, genesis, , final, hasBaseFee] = answers;
    if ("value" in id && id.value !== chainId)
      votes.blame(
        name,
        `${name} is on chain ${id.value}, and the network is configured as chain ${chainId}. Correct its rpc_urls.`,
      );
    if ("value" in hasBaseFee && hasBaseFee.value === false)
      votes.blame(
        name,
        `${name} has blocks without a base fee: Bursar needs a network with transactions of EIP-1559.`,
      );
    const unfit = explain(given);
    if (unfit !== undefined) votes.blame(name, unfit);
    // A node that was restarted has no final block until its consensus client names one.
    if ("error" in final)
      votes.miss(name, `it does not name its final block (${describeError(final.error)})`);
    const first = "value" in genesis ? genesis.value?.hash : undefined;
    if (first === undefined) votes.miss(name, "it does not give its first block");
    else if (!votes.isBlamed(name)) firstHashes.push({ name, value: first });
    if ("value" in final && final.value !== undefined)
      finalNumbers.set(name, final.value.number - ("depth" in finality ? finality.depth : 0));
  }
  blameOtherChains(network, votes, firstHashes, knownGenesis);
  votes.assertSupported(`No node of ${network} gives its first and its final block`);
  return new Map([...finalNumbers].filter(([name]) => !votes.isBlamed(name)));
}

function blameOtherChains(
  network: string,
  votes: ProbeVotes,
  firstHashes: readonly { readonly name: string; readonly value: string }[],
  knownGenesis: string | undefined,
): void {
  const [most] = groupOpinions(firstHashes, (hash) => hash).toSorted(
    (one, other) => other.names.length - one.names.length,
  );
  for (const { name, value } of firstHashes) {
    if (knownGenesis !== undefined && value !== knownGenesis)
      votes.blame(
        name,
        `The first block of ${network} is ${value}, as ${name} says, and the database was used with a chain whose first block is ${knownGenesis}. Correct its rpc_urls, or use the database of this chain.`,
      );
    else if (knownGenesis === undefined && most !== undefined && value !== most.value)
      votes.blame(
        name,
        `${most.names[0]} and ${name} have different first blocks, so they are on different chains. Correct the rpc_urls.`,
      );
  }
}

/** Any address will do: a node that does not keep the state of a block has no balances of it. */
const nobody = `0x${"0".repeat(40)}`;

/**
 * Balances and nonces are compared at the final block. Many nodes keep the state of 128 blocks only, and the final block of some networks is
 * further behind than that.
 */
async function probeState(
  { network, pool, timers }: ProbeDeps,
  votes: ProbeVotes,
  finalNumbers: ReadonlyMap<string, number>,
): Promise<void> {
  // A node that is behind does not have the newest of them, and what it calls final can be too old for the others.
  const numbers = [...finalNumbers.values()].sort((one, other) => other - one);
  const required = requiredOpinions(numbers.length, pool.endpoints.length);
  const agreed = numbers[Math.min(numbers.length, required) - 1];
  if (agreed === undefined) return;
  const finalNumber = Math.max(0, agreed);
  const question = {
    method: "eth_getBalance",
    params: [nobody, toQuantity(finalNumber)],
    read: (result: unknown) => readQuantity(result, "the balance"),
  };
  const isRefused = ({ name, answers }: NodeAnswers<readonly [typeof question]>) =>
    !("unavailable" in answers) && "error" in answers[0] && (finalNumbers.get(name) ?? -1) >= finalNumber;
  for (const given of await askAgain({ pool, timers }, [question], isRefused)) {
    const { name, answers } = given;
    if ("unavailable" in answers || !("error" in answers[0]) || !isRefused(given)) continue;
    const [{ error }] = answers;
    votes.blame(
      name,
      `${name} does not have the state of block ${finalNumber}, which is final (${describeError(error)}). The balances on ${network} are compared there: use a node that keeps the state of final blocks, such as an archive node.`,
    );
  }
  votes.assertSupported();
}

const baseFeeQuestion: Question<boolean> = {
  ...headerQuestion("latest"),
  // A node that does not name its newest block now says nothing about fees.
  read: (result) =>
    result === null ? undefined : readRecord(result, "the block")["baseFeePerGas"] !== undefined,
};

function explainFinality(
  name: string,
  tag: string,
  latest: Answer<BlockHeader>,
  final: Answer<BlockHeader>,
): string | undefined {
  if ("error" in final) return undefined;
  if (final.value === undefined)
    return `${name} does not name a \`${tag}\` block. Configure a number of blocks as the finality of this network.`;
  if ("error" in latest || latest.value === undefined || latest.value.number === 0) return undefined;
  return final.value.number < latest.value.number
    ? undefined
    : explainFinalHead(name, tag, latest.value.number);
}

function codeQuestion(address: string): Question<boolean> {
  return {
    method: "eth_getCode",
    params: [address, "latest"],
    read: (result) => readData(result, "the code").length > 2,
  };
}

/** Fees that are charged and not reserved would be missing in the wallet. */
async function probeDataFee(
  { network, hasDataFee, pool, timers }: ProbeDeps,
  votes: ProbeVotes,
): Promise<void> {
  const sentence = hasDataFee
    ? `${network} is configured with a data fee, but it has no contract that gives one (${gasPriceOracle}). Remove data_fee.`
    : `${network} is a chain of the OP stack, which charges a data fee. Set data_fee to true.`;
  const isOther = ({ answers }: NodeAnswers<readonly [Question<boolean>]>) =>
    !("unavailable" in answers) && "value" in answers[0] && answers[0].value !== hasDataFee;
  for (const given of await askAgain({ pool, timers }, [codeQuestion(gasPriceOracle)], isOther)) {
    if ("unavailable" in given.answers) votes.miss(given.name, given.answers.unavailable);
    else if (isOther(given)) votes.blame(given.name, sentence);
  }
  votes.assertSupported();
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

async function probeTokens({ network, tokens, pool, timers }: ProbeDeps, votes: ProbeVotes): Promise<void> {
  if (tokens.length === 0) return;
  const codes = tokens.map(({ contract }) => codeQuestion(contract));
  const lacksCode = ({ answers }: Given) => !("unavailable" in answers) && answers.some(hasNoCode);
  for (const { name, answers } of await askAgain({ pool, timers }, codes, lacksCode)) {
    if ("unavailable" in answers) votes.miss(name, answers.unavailable);
    else
      for (const [index, { asset, contract }] of tokens.entries())
        if (hasNoCode(answers[index]))
          votes.blame(
            name,
            `${asset} is configured as the token ${contract}, but there is no contract at this address on ${network}.`,
          );
  }
  votes.assertSupported();
  const decimalsOf = tokens.map(({ contract }) => decimalsQuestion(contract));
  const isOther = ({ answers }: NodeAnswers<typeof decimalsOf>) =>
    !("unavailable" in answers) &&
    tokens.some(({ decimals }, index) => !isValue(answers[index] as Answer<bigint>, BigInt(decimals)));
  for (const { name, answers } of await askAgain({ pool, timers }, decimalsOf, isOther)) {
    if ("unavailable" in answers) {
      votes.miss(name, answers.unavailable);
      continue;
    }
    for (const [index, { asset, contract, decimals }] of tokens.entries()) {
      const answer = answers[index] as Answer<bigint>;
      if (isValue(answer, BigInt(decimals))) continue;
      const found = "value" in answer ? answer.value : undefined;
      // Only a call that was executed says something about the token.
      if ("error" in answer && !isRevert(answer.error)) votes.miss(name, describeError(answer.error));
      else
        votes.blame(
          name,
          `${asset} is configured with ${decimals} decimals, but the token ${contract} on ${network} has ${found ?? "no decimals()"}. Correct its decimals.`,
        );
    }
  }
  votes.assertSupported();
}

const isValue = (answer: Answer<bigint>, value: bigint) => "value" in answer && answer.value === value;

function hasNoCode(answer: Answer<unknown> | undefined): boolean {
  return answer !== undefined && "value" in answer && answer.value === false;
}
