import { type BlockHeader, type ChainNode, NodeUnavailableError } from "../../../app/chain/chain-node.js";
import { type Answer, describeError, type Question, type RpcPool } from "../rpc/rpc-pool.js";
import type { LaggingNodes } from "./lagging-nodes.js";
import { ContradictionError, type SecondOpinion } from "./opinion/second-opinion.js";
import { headerQuestion } from "./read-block.js";
import { readNumber } from "./read-values.js";

/** Which block is final: one that nodes name, or one that is so many blocks behind the newest. */
export type Finality = { readonly tag: "finalized" | "safe" } | { readonly depth: number };

export interface HeadsDeps {
  readonly network: string;
  readonly chainId: number;
  readonly finality: Finality;
  readonly pool: RpcPool;
  /** Has the blocks that were read before they were final confirmed, up to this one or as far as there is time. */
  readonly confirmKept: SecondOpinion["confirmKept"];
  readonly lagging: Pick<LaggingNodes, "see">;
}

type Heads = Awaited<ReturnType<ChainNode["heads"]>>;

export interface HeadsReader {
  /** `settledNumber`: the last block whose facts are in the books, if that is known. */
  readonly read: (settledNumber?: number) => Promise<Heads>;
  /**
   * The newest block that two nodes have, or one if no other answers: a single node can claim a head that the others do not have, and would judge
   * everything alone there. It is not below the final block and the settled one, so that what the books have is there too.
   */
  readonly sharedNumber: () => number | undefined;
}

/** The newest block of one node, and the number of its final one. */
interface NodeHead {
  readonly name: string;
  readonly latest: BlockHeader;
  readonly finalNumber: number;
  /** Undefined if it is not known yet. */
  readonly final: BlockHeader | undefined;
}

export const chainIdQuestion: Question<number> = {
  method: "eth_chainId",
  params: [],
  read: (result) => readNumber(result, "the chain id"),
};

/**
 * The newest and the final block. A single node can be on a fork that the others have left, or lie. So the final block is the lowest one
 * that a node which answers calls final, and all of them must have the same hash there. While only one of several answers, the final block
 * stays where it was. A contradiction is looked at twice before it is a reason to halt, because nodes answer at different moments.
 */
export function createHeads(deps: HeadsDeps): HeadsReader {
  const { network, pool } = deps;
  const requiredCount = Math.min(2, pool.endpoints.length);
  let agreed: BlockHeader | undefined;
  let heads: readonly number[] = [];
  /** A process that was just started has agreed on nothing yet, and a node may lag far behind the books. */
  let settled = 0;

  /** The newest block, and the final one if enough nodes agree about it. */
  async function look(): Promise<{ latest: BlockHeader; final: BlockHeader | undefined } | { halt: string }> {
    const nodes = await lookAtNodes(deps);
    if ("halt" in nodes) return nodes;
    heads = nodes.map((node) => node.latest.number);
    deps.lagging.see(new Map(nodes.map(({ name, finalNumber }) => [name, finalNumber])));
    const lowest = Math.min(...nodes.map(({ finalNumber }) => finalNumber));
    const finals = await readAt(deps, lowest, nodes);
    const [first] = finals;
    const other = finals.find(({ header }) => header.hash !== first?.header.hash);
    if (first !== undefined && other !== undefined)
      return {
        halt: `${first.name} and ${other.name} disagree about block ${lowest}, which is final: ${first.header.hash} and ${other.header.hash}.`,
      };
    const latest = nodes.map((node) => node.latest).reduce((a, b) => (b.number > a.number ? b : a));
    return { latest, final: finals.length >= requiredCount ? first?.header : undefined };
  }

  /** Returns a reason to halt. Blocks that cannot be confirmed now are not final yet. */
  async function advance(final: BlockHeader): Promise<string | undefined> {
    try {
      const confirmed = await deps.confirmKept(final);
      if (confirmed !== undefined && confirmed.number > (agreed?.number ?? -1)) agreed = confirmed;
      return undefined;
    } catch (error) {
      if (error instanceof ContradictionError) return error.message;
      throw error;
    }
  }

  async function read(settledNumber = settled): Promise<Heads> {
    settled = settledNumber;
    const seen = await look();
    const looked = "halt" in seen ? await look() : seen;
    if ("halt" in looked) return looked;
    const { latest, final } = looked;
    const halt = final === undefined ? undefined : await advance(final);
    if (halt !== undefined) return { halt };
    if (agreed === undefined)
      throw new NodeUnavailableError(
        `The final block of ${network} needs ${requiredCount} nodes that agree.`,
      );
    if (latest.number < agreed.number)
      throw new NodeUnavailableError(`The nodes of ${network} lag behind its final block ${agreed.number}.`);
    return { latest, final: agreed };
  }

  const sharedNumber = () => {
    const [first, second] = heads
      .filter((number) => number >= Math.max(agreed?.number ?? 0, settled))
      .sort((one, other) => other - one);
    return second ?? first;
  };
  return { read, sharedNumber };
}

/** What each node that answers says about itself; a reason to halt if it contradicts the configuration. */
async function lookAtNodes({
  network,
  chainId,
  finality,
  pool,
}: HeadsDeps): Promise<NodeHead[] | { halt: string }> {
  const tag = "tag" in finality ? finality.tag : "latest";
  const heads: NodeHead[] = [];
  const reasons: string[] = [];
  const answered = await pool.askEach([chainIdQuestion, headerQuestion("latest"), headerQuestion(tag)]);
  for (const { name, answers } of answered) {
    if ("unavailable" in answers) {
      reasons.push(`${name}: ${answers.unavailable}`);
      continue;
    }
    const id = foundIn(answers[0]);
    if (id !== undefined && id !== chainId)
      return { halt: `${name} is on chain ${id} instead of ${chainId}.` };
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
  if (heads.length > 0) return heads;
  throw new NodeUnavailableError(`No node of ${network} gives its newest block: ${reasons.join("; ")}.`);
}

/** Such a node would make every payment final at once. */
export function explainFinalHead(name: string, tag: string, number: number): string {
  return `${name} calls its newest block ${number} \`${tag}\`, which says nothing about finality. Configure a number of blocks as the finality of this network.`;
}

/** The block with this number, as each of the nodes has it. */
async function readAt({ pool }: HeadsDeps, number: number, nodes: readonly NodeHead[]) {
  const known = nodes.flatMap(({ name, final }) =>
    final?.number === number ? [{ name, header: final }] : [],
  );
  if (known.length === nodes.length) return known;
  const names = new Set(nodes.map(({ name }) => name));
  return (await pool.askEach([headerQuestion(number)])).flatMap(({ name, answers }) => {
    const header = "unavailable" in answers ? undefined : foundIn(answers[0]);
    return header === undefined || !names.has(name) ? [] : [{ name, header }];
  });
}

function foundIn<T>(answer: Answer<T>): T | undefined {
  return "value" in answer ? answer.value : undefined;
}

function explain(answer: Answer<unknown>): string | undefined {
  if ("error" in answer) return describeError(answer.error);
  return answer.value === undefined ? "it does not have the block" : undefined;
}
