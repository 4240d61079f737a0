import {
  type BlockHeader,
  type ChainNode,
  NodesDisagreeError,
  NodeUnavailableError,
} from "../../../app/chain/chain-node.js";
import { explainUnavailable, type RpcPool } from "../rpc/rpc-pool.js";
import { isSameOrLacked } from "../rpc/same-of-most.js";
import { groupOpinions, weighOpinions } from "./opinion/weigh-opinions.js";
import { headerByHashQuestion, headerQuestion } from "./read-block.js";

interface AgreedHeaders {
  readonly headers: readonly BlockHeader[];
  /** The nodes that have all of these blocks. */
  readonly holders: ReadonlySet<string>;
}

export type ReadAgreedHeaders = (numbers: readonly number[]) => Promise<AgreedHeaders>;

/**
 * The headers of final blocks, each with its parent, as the larger group of nodes names them, or as one does if no other is configured. If only
 * one node stands against another, nothing says which of them is wrong.
 */
export function createAgreedHeaders(network: string, pool: RpcPool): ReadAgreedHeaders {
  return async (numbers) => {
    if (numbers.length === 0) return { headers: [], holders: new Set() };
    const answered = await pool.askEach(numbers.map(headerQuestion));
    const holders = new Set(answered.map(({ name }) => name));
    const headers = numbers.map((number, index) => {
      const given = answered.flatMap(({ name, answers }) => {
        const answer = "unavailable" in answers ? undefined : answers[index];
        if (answer === undefined || !("value" in answer) || answer.value === undefined) return [];
        return [{ name, value: answer.value }];
      });
      const opinions = groupOpinions(given, keyOfHeader);
      const verdict = weighOpinions(opinions, pool.endpoints.length);
      if (verdict.kind === "disputed") {
        const [one, other] = verdict.between;
        throw new NodesDisagreeError(
          `${one.names[0]} and ${other.names[0]} disagree about block ${number}, which is final: ${one.value.hash} and ${other.value.hash}.`,
        );
      }
      if (verdict.kind === "unsure") {
        const confirming =
          pool.endpoints.length < 2
            ? `No node of ${network} gives block ${number}, which is final`
            : `Two nodes must confirm block ${number} of ${network}, which is final, and ${verdict.opinion === undefined ? "none" : `only ${verdict.opinion.names[0]}`} can`;
        throw new NodeUnavailableError(`${confirming}${explainUnavailable(answered)}.`);
      }
      const { value, others } = verdict;
      if (others.length > 0)
        pool.seeOdd(
          others,
          `The others have ${value.hash} as block ${number}, which is final, with its parent.`,
        );
      const agreeing = new Set(opinions.find((opinion) => opinion.value === value)?.names);
      for (const name of holders) if (!agreeing.has(name)) holders.delete(name);
      return value;
    });
    return { headers, holders };
  };
}

/** The headers that nodes give for one number, those that most of them name first. */
export function createHeadersAt(pool: RpcPool): ChainNode["headersAt"] {
  return async (number) => {
    const answered = await pool.askEach([headerQuestion(number)], isSameOrLacked(pool.endpoints.length));
    const given = answered.flatMap(({ name, answers }) => {
      const [answer] = "unavailable" in answers ? [] : answers;
      const value = answer !== undefined && "value" in answer ? answer.value : undefined;
      return value === undefined ? [] : [{ name, value }];
    });
    return groupOpinions(given, keyOfHeader)
      .toSorted((one, other) => other.names.length - one.names.length)
      .map(({ value }) => value);
  };
}

/**
 * Which parents of blocks that may not be final were misnamed. A node that names a wrong one, which no other has, would otherwise be asked for the
 * block again and again.
 */
export function createParentCheck(pool: RpcPool): ChainNode["misnamedParents"] {
  return async (blocks) => {
    if (pool.endpoints.length < 2 || blocks.length === 0) return [];
    const answered = await pool.askEach(
      blocks.map(({ hash }) => headerByHashQuestion(hash)),
      isSameOrLacked(pool.endpoints.length),
    );
    const misnamed = blocks.filter(({ hash, parentHash }, index) => {
      const given = answered.flatMap(({ name, answers }) => {
        const answer = "unavailable" in answers ? undefined : answers[index];
        const value = answer !== undefined && "value" in answer ? answer.value : undefined;
        return value === undefined ? [] : [{ name, value: value.parentHash }];
      });
      const verdict = weighOpinions(
        groupOpinions(given, (value) => value),
        pool.endpoints.length,
      );
      if (verdict.kind !== "agreed") return verdict.kind === "disputed";
      if (verdict.others.length > 0)
        pool.seeOdd(verdict.others, `The others have ${verdict.value} as the parent of block ${hash}.`);
      return verdict.value !== parentHash;
    });
    if (misnamed.length > 0) pool.changeFirst();
    return misnamed.map(({ hash }) => hash);
  };
}

function keyOfHeader({ hash, parentHash }: BlockHeader): string {
  return `${hash} ${parentHash}`;
}
