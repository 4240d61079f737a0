import {
  type BlockHeader,
  type ChainNode,
  NodesDisagreeError,
  NodeUnavailableError,
  type ShownHead,
} from "../../../../app/chain/chain-node.js";
import { ContradictionError } from "../opinion/confirm-claims.js";
import type { SecondOpinion } from "../opinion/second-opinion.js";
import { groupOpinions, requiredOpinions, weighOpinions } from "../opinion/weigh-opinions.js";
import { headerQuestion } from "../read-block.js";
import type { LaggingNodes } from "./lagging-nodes.js";
import { type Dispute, foundIn, type LookDeps, lookAtNodes, type NodeHead } from "./look-at-nodes.js";

export interface HeadsDeps extends LookDeps {
  readonly monotonicMs: () => number;
  /** Has the blocks that were read before they were final confirmed, up to this one or as far as there is time. */
  readonly opinion: Pick<SecondOpinion, "confirmKept" | "isDisputed" | "misreads" | "waitsFor">;
  readonly lagging: Pick<LaggingNodes, "see">;
}

type Heads = Awaited<ReturnType<ChainNode["heads"]>>;

interface Look {
  readonly latest: BlockHeader;
  readonly final: BlockHeader | undefined;
  readonly shown: ShownHead;
  /** Why the final block is not a later one. */
  readonly waits: string | undefined;
}

export interface HeadsReader {
  /** `settledNumber`: the last block whose facts are in the books, if that is known. */
  readonly read: (settledNumber?: number) => Promise<Heads>;
  /**
   * The newest block that two nodes have, or one if no other answers: a single node can claim a head that the others do not have, and would judge
   * everything alone there. It is not below the final block and the settled one, so that what the books have is there too.
   */
  readonly sharedNumber: () => number | undefined;
  readonly forgetFinal: ChainNode["forgetFinal"];
}

const neverSeen = { sinceMs: 0, seenMs: Number.NEGATIVE_INFINITY };

/** How long nodes that contradict each other may do so while others, which do not answer, could say who is right. */
const undecidedMs = 60_000;

/**
 * The newest and the final block. A single node can be on a fork that the others have left, or lie. So the final block is the newest one that
 * more than half of the nodes which answer call final, with the same hash, and at least two of them. While only one of several answers, the final
 * block stays where it was. A contradiction that no larger group decides is looked at twice before it is a reason to halt, because nodes answer at
 * different moments.
 */
export function createHeads(deps: HeadsDeps): HeadsReader {
  const { network, pool, opinion, monotonicMs } = deps;
  const nodeCount = pool.endpoints.length;
  let agreed: BlockHeader | undefined;
  let heads: readonly number[] = [];
  /** A process that was just started has agreed on nothing yet, and a node may lag far behind the books. */
  let settled = 0;
  /** Of final blocks themselves, and of what is in them: agreement about the blocks says nothing about that. */
  const undecided = { blocks: neverSeen, contents: neverSeen };

  /** The newest block, and the final one if enough nodes agree about it. */
  async function look(isPatient = false): Promise<Look | Dispute> {
    const nodes = await lookAtNodes(deps, isPatient);
    if ("halt" in nodes) return nodes;
    deps.lagging.see(new Map(nodes.map(({ name, finalNumber }) => [name, finalNumber])));
    const found = await findFinal(deps, nodes);
    if ("halt" in found) return found;
    const { final, odd } = found;
    const even = nodes.filter(({ name }) => !odd.includes(name));
    heads = even.map((node) => node.latest.number);
    const latest = even.map((node) => node.latest).reduce((a, b) => (b.number > a.number ? b : a));
    return { latest, final, shown: shownOf(even), waits: explainWait(nodes, final?.number, nodeCount) };
  }

  /** Returns a dispute. Blocks that cannot be confirmed now are not final yet. */
  async function advance(final: BlockHeader): Promise<Dispute | undefined> {
    try {
      const confirmed = await opinion.confirmKept(final, settled);
      if (confirmed !== undefined && confirmed.number > (agreed?.number ?? -1)) agreed = confirmed;
      return undefined;
    } catch (error) {
      if (error instanceof ContradictionError) return { halt: error.message, isComplete: error.isComplete };
      throw error;
    }
  }

  /** A reason to halt, unless a node that does not answer now may decide. */
  function haltOf({ halt, isComplete }: Dispute, about: keyof typeof undecided): { halt: string } {
    const nowMs = monotonicMs();
    const { sinceMs, seenMs } = undecided[about];
    const beganMs = nowMs - seenMs >= undecidedMs ? nowMs : sinceMs;
    undecided[about] = { sinceMs: beganMs, seenMs: nowMs };
    if (isComplete || nowMs - beganMs >= undecidedMs) return { halt };
    throw new NodesDisagreeError(`${halt} Other nodes do not answer.`);
  }

  async function read(settledNumber = settled): Promise<Heads> {
    settled = settledNumber;
    const seen = await look();
    const looked = "halt" in seen ? await look(true) : seen;
    if ("halt" in looked) return haltOf(looked, "blocks");
    if (looked.final !== undefined) undecided.blocks = neverSeen;
    const { latest, final, shown, waits } = looked;
    const dispute = final === undefined ? undefined : await advance(final);
    if (dispute !== undefined) return haltOf(dispute, "contents");
    // What was found is reported once: without a dispute in this look, nodes have agreed only if they have confirmed the block.
    if (!opinion.isDisputed()) undecided.contents = neverSeen;
    if (agreed === undefined)
      throw new NodeUnavailableError(
        `The final block of ${network} needs ${requiredOpinions(0, nodeCount)} nodes that agree.`,
      );
    if (latest.number < agreed.number)
      throw new NodeUnavailableError(`The nodes of ${network} lag behind its final block ${agreed.number}.`);
    return {
      latest,
      final: agreed,
      shown: { number: Math.max(shown.number, agreed.number), baseFee: shown.baseFee },
      misreads: opinion.misreads(),
      waits: waits ?? opinion.waitsFor(),
      sharedNumber: sharedNumber() ?? agreed.number,
    };
  }

  const sharedNumber = () => {
    const [first, second] = heads
      .filter((number) => number >= Math.max(agreed?.number ?? 0, settled))
      .sort((one, other) => other - one);
    return second ?? first;
  };
  const forgetFinal = () => {
    agreed = undefined;
    heads = [];
    undecided.blocks = neverSeen;
    undecided.contents = neverSeen;
  };
  return { read, sharedNumber, forgetFinal };
}

/** A single node can name any number and any fee: the number is the newest one that two nodes have reached, and the fee the median. */
function shownOf(nodes: readonly NodeHead[]): ShownHead {
  const [first = 0, number = first] = nodes
    .map(({ latest }) => latest.number)
    .sort((one, other) => other - one);
  const fees = nodes.map(({ latest }) => latest.baseFee).sort((one, other) => (one < other ? -1 : 1));
  return { number, baseFee: fees[Math.floor((fees.length - 1) / 2)] ?? 0n };
}

/**
 * The newest block that enough nodes call final and have the same hash of. Each number is tried that they do, the highest first: at one that a node
 * has not reached yet, another one that lies can stand against the third.
 */
async function findFinal(
  deps: HeadsDeps,
  nodes: readonly NodeHead[],
): Promise<{ final: BlockHeader | undefined; odd: readonly string[] } | Dispute> {
  const nodeCount = deps.pool.endpoints.length;
  const numbers = nodes.map(({ finalNumber }) => finalNumber).sort((one, other) => other - one);
  const candidates = new Set(numbers.slice(requiredOpinions(nodes.length, 1) - 1));
  let dispute: Dispute | undefined;
  for (const number of candidates) {
    const callers = nodes.filter(({ finalNumber }) => finalNumber >= number);
    const given = await readAt(deps, number, callers);
    const verdict = weighOpinions(
      groupOpinions(given, ({ hash }) => hash),
      nodeCount,
      nodes.length,
    );
    if (verdict.kind === "agreed") {
      const { value: final, others: odd } = verdict;
      if (odd.length > 0)
        deps.pool.seeOdd(odd, `The others have ${final.hash} as block ${number}, which is final.`);
      return { final, odd };
    }
    if (verdict.kind !== "disputed") continue;
    const [one, other] = verdict.between;
    const halt = `${one.names[0]} and ${other.names[0]} disagree about block ${number}, which is final: ${one.value.hash} and ${other.value.hash}.`;
    dispute = { halt, isComplete: given.length === nodeCount };
  }
  return dispute ?? { final: undefined, odd: [] };
}

/** The block with this number, as each of the nodes has it. */
async function readAt({ pool }: HeadsDeps, number: number, nodes: readonly NodeHead[]) {
  const known = nodes.flatMap(({ name, final }) =>
    final?.number === number ? [{ name, value: final }] : [],
  );
  if (known.length === nodes.length) return known;
  const names = new Set(nodes.map(({ name }) => name));
  return (await pool.askEach([headerQuestion(number)])).flatMap(({ name, answers }) => {
    const value = "unavailable" in answers ? undefined : foundIn(answers[0]);
    return value === undefined || !names.has(name) ? [] : [{ name, value }];
  });
}

/** Why the final block is not a later one, if too few nodes have reached it. */
function explainWait(
  nodes: readonly NodeHead[],
  finalNumber: number | undefined,
  nodeCount: number,
): string | undefined {
  const required = requiredOpinions(nodes.length, nodeCount);
  if (nodes.length < required)
    return `${required} nodes must agree about the final block, and only ${nodes[0]?.name} gives one.`;
  if (finalNumber === undefined) return `No ${required} nodes agree about the final block.`;
  const [first = finalNumber, second = first, ...more] = nodes
    .map((node) => node.finalNumber)
    .sort((one, other) => other - one);
  // A single one of three can make up any number.
  const highest = more.length === 0 ? first : second;
  const behind = nodes.filter((node) => node.finalNumber < highest).map(({ name }) => name);
  if (highest <= finalNumber) return undefined;
  return `${behind.join(" and ")} ${behind.length === 1 ? "has" : "have"} not reached block ${highest}, which others call final.`;
}
