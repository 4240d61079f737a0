/**
 * Whether the chains are in use. A service follows its chains from its start. The sandbox does so from their first use, because its chain
 * and its signer are processes that take as long to start as everything else.
 */
interface ChainDemand {
  isNeeded: () => boolean;
  /** Something uses the chains from now on. */
  need: () => void;
  /** Calls it when the chains are needed: at once, if they are. */
  whenNeeded: (begin: () => void) => void;
}

export function createChainDemand(isNeededAtStart: boolean): ChainDemand {
  let isNeeded = isNeededAtStart;
  const waiting: (() => void)[] = [];
  return {
    isNeeded: () => isNeeded,
    need: () => {
      isNeeded = true;
      for (const begin of waiting.splice(0)) begin();
    },
    whenNeeded: (begin) => {
      if (isNeeded) begin();
      else waiting.push(begin);
    },
  };
}
