const trustedPairsMax = 10_000;

/** Who has authenticated from where: a flood from the same address block does not keep these out. Memory is bounded. */
export function createTrustedPairs() {
  const pairs = new Set<string>();
  return {
    has: (pair: string) => pairs.has(pair),
    add: (pair: string) => {
      pairs.delete(pair);
      pairs.add(pair);
      if (pairs.size > trustedPairsMax) pairs.delete(pairs.values().next().value as string);
    },
  };
}
