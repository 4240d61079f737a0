/**
 * The worlds that a driver is simulated in. In each of them payments are paid once, nothing is lost, and the books equal the chain when
 * everything has ended. What differs:
 *
 * - `usual`: nodes fail, lag and lose answers, transactions are dropped, blocks are reorganised. Nothing halts.
 * - `poolless`: the network has no pool. Nodes take only the next nonce of an address, and forget what is not in the next block. Nothing halts.
 * - `lying`: one of two nodes lies about what is in blocks. The network halts when a block with a lie is final, and an operator resumes it. Nothing
 *   else halts, and no lie is credited or ends a payment.
 */
export type ChainWorldKind = "usual" | "poolless" | "lying";

const kinds: readonly ChainWorldKind[] = ["usual", "usual", "poolless", "lying"];

/** Errors of a driver that are part of a world. */
export const expectedErrors: Readonly<Record<ChainWorldKind, readonly RegExp[]>> = {
  usual: [],
  poolless: [],
  lying: [
    / is halted: Two nodes disagree about the final block /,
    /has something else than was read from it before/,
  ],
};

/** Every world has its share of the seeds. */
export function worldOf(seed: number): ChainWorldKind {
  return kinds[seed % kinds.length] as ChainWorldKind;
}
