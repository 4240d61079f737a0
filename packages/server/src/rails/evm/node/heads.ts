import { type BlockHeader, type ChainNode, NodeUnavailableError } from "../../../app/chain/chain-node.js";
import { type Answer, describeError, type Question, type RpcPool } from "../rpc/rpc-pool.js";
import { headerQuestion } from "./read-block.js";
import { readNumber } from "./read-values.js";

/** Which block is final: one that nodes name, or one that is so many blocks behind the newest. */
export type Finality = { readonly tag: "finalized" | "safe" } | { readonly depth: number };

export interface HeadsDeps {
  readonly network: string;
  readonly chainId: number;
  readonly finality: Finality;
  readonly pool: RpcPool;
}

type Heads = Awaited<ReturnType<ChainNode["heads"]>>;

/** The newest block of one node, and the number of its final one. */
interface NodeHead {
  readonly name: string;
  readonly latest: BlockHeader;
  readonly finalNumber: number;
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
export function createHeads(deps: HeadsDeps): () => Promise<Heads> {
  const { network, pool } = deps;
  const requiredCount = Math.min(2, pool.endpoints.length);
  let agreed: BlockHeader | undefined;

  async function look(): Promise<Heads> {
    const nodes = await lookAtNodes(deps);
    if ("halt" in nodes) return nodes;
    const lowest = Math.min(...nodes.map(({ finalNumber }) => finalNumber));
    const finals = await readAt(deps, lowest, nodes);
    const other = finals.find(({ header }) => header.hash !== finals[0]?.header.hash);
    if (other !== undefined && finals[0] !== undefined)
      return {
        halt: `${finals[0].name} and ${other.name} disagree about block ${lowest}, which is final: ${finals[0].header.hash} and ${other.header.hash}.`,
      };
    const final = finals[0]?.header;
    if (final !== undefined && finals.length >= requiredCount && final.number >= (agreed?.number ?? 0))
      agreed = final;
    if (agreed === undefined)
      throw new NodeUnavailableError(
        `The final block of ${network} needs ${requiredCount} nodes that agree, and ${finals.length} answered.`,
      );
    const latest = nodes.map((node) => node.latest).reduce((a, b) => (b.number > a.number ? b : a));
    if (latest.number < agreed.number)
      throw new NodeUnavailableError(`The nodes of ${network} lag behind its final block ${agreed.number}.`);
    return { latest, final: agreed };
  }

  return async () => {
    const heads = await look();
    return "halt" in heads ? await look() : heads;
  };
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
    if ("tag" in finality && final.number >= latest.number && latest.number > 0)
      return { halt: explainFinalHead(name, finality.tag, latest.number) };
    const finalNumber = "tag" in finality ? final.number : Math.max(0, latest.number - finality.depth);
    heads.push({ name, latest, finalNumber });
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
