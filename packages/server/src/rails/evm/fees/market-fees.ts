import type { FeeTerms } from "../../../app/chain/chain-node.js";

export interface FeeBounds {
  /** Wei per gas that a transaction may pay at most. */
  feeCap: bigint;
  minimumTip: bigint;
  /** What a tip is at most, whatever others pay; a replacement can offer more. */
  tipMax: bigint;
}

/** What one node says about fees. */
export interface SeenFees {
  /** Of the next block. */
  readonly baseFee: bigint;
  /** What recent blocks paid; empty ones report zero, which says nothing. */
  readonly tips: readonly bigint[];
}

/**
 * Fees for a transaction that should be in one of the next blocks. Twice the base fee lasts for six full blocks. The tip is the median of
 * what recent blocks paid. Of what several nodes say the median counts, of two the lower: a single one that says too much does not decide what
 * payments cost. If it says too little, payments are replaced with higher fees some blocks later.
 */
export function marketFees(seen: readonly SeenFees[], bounds: FeeBounds): FeeTerms {
  const baseFee = lowerMedian(seen.map((one) => one.baseFee));
  const median = lowerMedian(seen.map(({ tips }) => upperMedian(tips.filter((tip) => tip > 0n))));
  const wantedTip = median > bounds.minimumTip ? median : bounds.minimumTip;
  const tip = wantedTip < bounds.tipMax ? wantedTip : bounds.tipMax;
  const wanted = 2n * baseFee + tip;
  const maxFeePerGas = wanted < bounds.feeCap ? wanted : bounds.feeCap;
  return { maxFeePerGas, maxPriorityFeePerGas: tip < maxFeePerGas ? tip : maxFeePerGas };
}

function lowerMedian(values: readonly bigint[]): bigint {
  return ascending(values)[Math.floor((values.length - 1) / 2)] ?? 0n;
}

function upperMedian(values: readonly bigint[]): bigint {
  return ascending(values)[Math.floor(values.length / 2)] ?? 0n;
}

function ascending(values: readonly bigint[]): bigint[] {
  return values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}
