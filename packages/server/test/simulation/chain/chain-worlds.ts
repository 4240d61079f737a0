/**
 * The worlds that a driver is simulated in. In each of them payments are paid once, nothing is lost, and the books equal the chain when
 * everything has ended. What differs:
 *
 * - `usual`: nodes fail, lag and lose answers, transactions are dropped, blocks are reorganised. Nothing halts.
 * - `poolless`: the network has no pool. Nodes take only the next nonce of an address, and forget what is not in the next block. Nothing halts.
 * - `lying`: one of two nodes lies about what is in blocks. The network halts when a block with a lie is final, and an operator resumes it. If it
 *   leaves out a payment of ours, nobody contradicts it; the wallet halts, and the operator adopts what the chain says. Nothing else halts, and no
 *   lie is credited or ends a payment.
 * - `outvoted`: one of three nodes lies about what is in blocks. The two others contradict it when such a block is final, and have the payments of ours
 *   that it has left out. Nothing halts, and no lie is credited.
 * - `forked`: one of three nodes follows forks of its own, for longer than blocks take to be final, and the two others do not answer for as long.
 *   Nothing halts, and nothing of a fork is settled.
 * - `rewound`: the database is restored from a backup, and the chain has gone on. Everything that was signed is final by then. Wallets whose nonces
 *   the chain is ahead of halt. An operator cancels what waits and is on the chain already, and adopts what the chain says.
 */
export type ChainWorldKind = "usual" | "poolless" | "lying" | "outvoted" | "forked" | "rewound";

/** Their number has no common divisor with 3: every third seed has a liar that is silent. */
const kinds: readonly ChainWorldKind[] = [
  ...(["usual", "usual", "usual"] as const),
  ...(["poolless", "lying", "rewound", "forked", "outvoted"] as const),
];

/** Errors of a driver that are part of a world. */
export const expectedErrors: Readonly<Record<ChainWorldKind, readonly RegExp[]>> = {
  usual: [],
  poolless: [],
  lying: [/ is halted: Two nodes disagree about /, /has something else than was read from it before/],
  outvoted: [/has something else than was read from it before/],
  forked: [],
  // A payment that is signed again is recognised in a block that was read before.
  rewound: [/has something else than was read from it before/],
};

/** Every world has its share of the seeds. */
export function worldOf(seed: number): ChainWorldKind {
  return kinds[seed % kinds.length] as ChainWorldKind;
}
