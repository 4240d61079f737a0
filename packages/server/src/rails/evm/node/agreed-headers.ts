import {
  type BlockHeader,
  type ChainNode,
  NodesDisagreeError,
  NodeUnavailableError,
} from "../../../app/chain/chain-node.js";
import type { RpcPool } from "../rpc/rpc-pool.js";
import { headerQuestion } from "./read-block.js";

/** A header, and the nodes that have it. */
interface NamedHeader {
  readonly header: BlockHeader;
  readonly names: readonly string[];
}

/**
 * The headers of final blocks as two nodes name them, each with its parent, or as one does if no other is configured. A node that names other
 * ones is overruled by two; if only one stands against it, nothing says which of them is wrong.
 */
export function createAgreedHeaders(network: string, pool: RpcPool): ChainNode["finalHeaders"] {
  const requiredCount = Math.min(2, pool.endpoints.length);
  return async (numbers) => {
    if (numbers.length === 0) return [];
    const answered = await pool.askEach(numbers.map(headerQuestion));
    return numbers.map((number, index) => {
      const [first, second] = rankHeaders(
        answered.flatMap(({ name, answers }) => {
          const answer = "unavailable" in answers ? undefined : answers[index];
          if (answer === undefined || !("value" in answer) || answer.value === undefined) return [];
          return [{ name, header: answer.value }];
        }),
      );
      const count = first?.names.length ?? 0;
      if (
        first !== undefined &&
        second !== undefined &&
        (count < requiredCount || count === second.names.length)
      )
        throw new NodesDisagreeError(
          `${first.names[0]} and ${second.names[0]} disagree about block ${number}, which is final: ${first.header.hash} and ${second.header.hash}.`,
        );
      if (first === undefined || count < requiredCount)
        throw new NodeUnavailableError(
          `Two nodes must confirm block ${number} of ${network}, which is final, and ${first === undefined ? "none" : `only ${first.names[0]}`} can.`,
        );
      return first.header;
    });
  };
}

/** The headers that nodes give for one number, those that most of them name first. */
export function rankHeaders(
  given: readonly { readonly name: string; readonly header: BlockHeader }[],
): readonly NamedHeader[] {
  const named = new Map<string, { header: BlockHeader; names: string[] }>();
  for (const { name, header } of given) {
    const key = `${header.hash} ${header.parentHash}`;
    const known = named.get(key) ?? { header, names: [] };
    known.names.push(name);
    named.set(key, known);
  }
  return [...named.values()].sort((one, other) => other.names.length - one.names.length);
}
