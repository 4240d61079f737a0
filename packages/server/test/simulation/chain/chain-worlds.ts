/**
 * The worlds that a driver is simulated in. In each of them payments are paid once, nothing is lost, and the books equal the chain when
 * everything has ended. What differs:
 *
 * - `usual`: nodes fail, lag and lose answers, transactions are dropped, blocks are reorganised. Nothing halts.
 * - `poolless`: the network has no pool. Nodes take only the next nonce of an address, and forget what is not in the next block. Nothing halts.
 */
export type ChainWorldKind = "usual" | "poolless";

const kinds: readonly ChainWorldKind[] = ["usual", "usual", "usual", "poolless"];

/** Every world has its share of the seeds. */
export function worldOf(seed: number): ChainWorldKind {
  return kinds[seed % kinds.length] as ChainWorldKind;
}
