/** Nodes that gave an answer which cannot be used, or left one out. */
export interface WrongNodes {
  /** Whether it is asked after the others for now. */
  readonly isWrong: (name: string) => boolean;
  readonly see: (name: string) => void;
}

/** As long as for one that contradicts the others: it may give such answers only to some questions, or only now and then. */
const rememberedMs = 600_000;

/**
 * A node that times out or fails pauses. One that answers at once, with something else than the method gives, does not: it would be asked first for
 * everything, and each question would need a second node.
 */
export function createWrongNodes(monotonicMs: () => number): WrongNodes {
  const until = new Map<string, number>();
  return {
    isWrong: (name) => monotonicMs() < (until.get(name) ?? Number.NEGATIVE_INFINITY),
    see: (name) => void until.set(name, monotonicMs() + rememberedMs),
  };
}
