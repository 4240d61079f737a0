import { NodeUnavailableError } from "../../../../app/chain/chain-node.js";
import { OperatorError } from "../../../../operator-error.js";
import { requiredOpinions } from "../opinion/weigh-opinions.js";

/** Which nodes are as the network is configured. */
export interface ProbeVotes {
  /** The first sentence about a node counts. */
  readonly blame: (name: string, sentence: string) => void;
  readonly isBlamed: (name: string) => boolean;
  /** The node has not answered, and may be as configured. */
  readonly miss: (name: string, reason: string) => void;
  /**
   * Throws an `OperatorError` if too many nodes are wrong for the others to be the larger group, whatever those say that have not answered, and a
   * `NodeUnavailableError` with this beginning if none has.
   */
  readonly assertSupported: (noneAnswers?: string) => void;
  /** One for each node that is wrong or has not answered. */
  readonly sentences: () => readonly string[];
}

export function createProbeVotes(names: readonly string[]): ProbeVotes {
  const blamed = new Map<string, string>();
  const missing = new Map<string, string>();
  const required = requiredOpinions(names.length, names.length);
  return {
    blame: (name, sentence) => {
      missing.delete(name);
      if (!blamed.has(name)) blamed.set(name, sentence);
    },
    isBlamed: (name) => blamed.has(name),
    miss: (name, reason) => {
      if (!blamed.has(name) && !missing.has(name)) missing.set(name, reason);
    },
    assertSupported: (noneAnswers) => {
      const [wrong] = blamed.values();
      if (wrong !== undefined && names.length - blamed.size < required) throw new OperatorError(wrong);
      if (noneAnswers !== undefined && missing.size === names.length)
        throw new NodeUnavailableError(
          `${noneAnswers}: ${[...missing].map(([name, reason]) => `${name}: ${reason}`).join("; ")}.`,
        );
    },
    sentences: () => [
      ...blamed.values(),
      ...[...missing].map(([name, reason]) => `${name} does not answer: ${reason}.`),
    ],
  };
}
