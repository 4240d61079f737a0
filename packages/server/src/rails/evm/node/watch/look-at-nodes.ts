import { type BlockHeader, NodeUnavailableError } from "../../../../app/chain/chain-node.js";
import { describeError } from "../../rpc/rpc-error.js";
import type { Answer, Question, RpcPool } from "../../rpc/rpc-pool.js";
import { groupOpinions, weighOpinions } from "../opinion/weigh-opinions.js";
import { headerQuestion } from "../read-block.js";
import { readNumber } from "../read-values.js";

/** Which block is final: one that nodes name, or one that is so many blocks behind the newest. */
export type Finality = { readonly tag: "finalized" | "safe" } | { readonly depth: number };

export interface LookDeps {
  readonly network: string;
  readonly chainId: number;
  readonly finality: Finality;
  readonly pool: RpcPool;
}

/** The newest block of one node, and the number of its final one. */
export interface NodeHead {
  readonly name: string;
  readonly latest: BlockHeader;
  readonly finalNumber: number;
  /** Undefined if it is not known yet. */
  readonly final: BlockHeader | undefined;
}

/** What contradicts itself, and whether all nodes were heard: if not, another one may say who is right. */
export interface Dispute {
  readonly halt: string;
  readonly isComplete: boolean;
}

export const chainIdQuestion: Question<number> = {
  method: "eth_chainId",
  params: [],
  read: (result) => readNumber(result, "the chain id"),
};

/** How far apart the final blocks of nodes may be that are not looked at together with a slower one. */
const apartMax = 4;

/**
 * What each node that answers says about itself; a dispute if it is on another chain than configured, and no larger group is on that. Nodes that are
 * slower than a larger group are waited for only if `isPatient`, or if the others are on another chain, or far apart: one that is behind would
 * hold the final block back, which is for the others to decide.
 */
export async function lookAtNodes(
  { network, chainId, finality, pool }: LookDeps,
  isPatient = false,
): Promise<NodeHead[] | Dispute> {
  const tag = "tag" in finality ? finality.tag : "latest";
  const heads: NodeHead[] = [];
  const reasons: string[] = [];
  const chainIds: { name: string; value: number }[] = [];
  const questions = [chainIdQuestion, headerQuestion("latest"), headerQuestion(tag)] as const;
  const most = Math.floor(pool.endpoints.length / 2) + 1;
  const answered = await pool.askEach(questions, (given) => {
    const numbers = given.flatMap(({ answers }) => {
      const [id, , final] = "unavailable" in answers ? [] : answers;
      const number = id === undefined || foundIn(id) !== chainId ? undefined : foundIn(final)?.number;
      return number ?? [];
    });
    const [first = 0] = numbers.sort((one, other) => other - one);
    return !isPatient && first - (numbers[most - 1] ?? Number.NEGATIVE_INFINITY) <= apartMax;
  });
  for (const { name, answers } of answered) {
    if ("unavailable" in answers) {
      reasons.push(`${name}: ${answers.unavailable}`);
      continue;
    }
    const id = foundIn(answers[0]);
    if (id !== undefined) chainIds.push({ name, value: id });
    if (id !== undefined && id !== chainId) continue;
    const latest = foundIn(answers[1]);
    const final = foundIn(answers[2]);
    if (id === undefined || latest === undefined || final === undefined) {
      reasons.push(`${name}: ${answers.map(explain).find((reason) => reason !== undefined)}`);
      continue;
    }
    // Also seen of a load balancer whose nodes lag differently. Such an answer cannot be used; the next one may.
    if ("tag" in finality && final.number >= latest.number && latest.number > 0) {
      reasons.push(explainFinalHead(name, finality.tag, latest.number));
      continue;
    }
    if ("tag" in finality) heads.push({ name, latest, finalNumber: final.number, final });
    else
      heads.push({
        name,
        latest,
        finalNumber: Math.max(0, latest.number - finality.depth),
        final: undefined,
      });
  }
  const wrong = chainIds.filter(({ value }) => value !== chainId);
  const [first] = wrong;
  if (first !== undefined) {
    const verdict = weighOpinions(
      groupOpinions(chainIds, (id) => id),
      pool.endpoints.length,
    );
    const halt = `${first.name} is on chain ${first.value} instead of ${chainId}.`;
    const isOutvoted = verdict.kind === "agreed" && verdict.value === chainId;
    // One that answers alone decides nothing, also not to halt.
    if (verdict.kind === "unsure") reasons.push(halt);
    else if (!isOutvoted) return { halt, isComplete: chainIds.length === pool.endpoints.length };
    else
      pool.seeOdd(
        wrong.map(({ name }) => name),
        halt,
      );
  }
  if (heads.length > 0) return heads;
  throw new NodeUnavailableError(`No node of ${network} gives its newest block: ${reasons.join("; ")}.`);
}

/** Such a node would make every payment final at once. */
export function explainFinalHead(name: string, tag: string, number: number): string {
  return `${name} calls its newest block ${number} \`${tag}\`, which says nothing about finality. Configure a number of blocks as the finality of this network.`;
}

export function foundIn<T>(answer: Answer<T> | undefined): T | undefined {
  return answer !== undefined && "value" in answer ? answer.value : undefined;
}

function explain(answer: Answer<unknown>): string | undefined {
  if ("error" in answer) return describeError(answer.error);
  return answer.value === undefined ? "it does not have the block" : undefined;
}
