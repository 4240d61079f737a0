import type { FeeTerms } from "../../../app/chain/chain-node.js";

export interface FeeBounds {
  /** Wei per gas that a transaction may pay at most. */
  feeCap: bigint;
  minimumTip: bigint;
}

/**
 * Fees for a transaction that should be in one of the next blocks. Twice the base fee lasts for six full blocks. The tip is the median of
 * what recent blocks paid; empty blocks report zero, which says nothing.
 */
export function marketFees(baseFee: bigint, tips: readonly bigint[], bounds: FeeBounds): FeeTerms {
  const paid = tips.filter((tip) => tip > 0n).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const median = paid[Math.floor(paid.length / 2)] ?? 0n;
  const tip = median > bounds.minimumTip ? median : bounds.minimumTip;
  const wanted = 2n * baseFee + tip;
  const maxFeePerGas = wanted < bounds.feeCap ? wanted : bounds.feeCap;
  return { maxFeePerGas, maxPriorityFeePerGas: tip < maxFeePerGas ? tip : maxFeePerGas };
}
