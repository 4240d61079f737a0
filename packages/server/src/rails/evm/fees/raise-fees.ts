import type { FeeTerms } from "../../../app/chain/chain-node.js";

/**
 * The fees of a transaction that replaces another. Nodes want both to be higher by at least 10 %, some by 12.5 %; both are raised by
 * 12.5 % or to the market's, and never above the cap. `cap_reached` if the cap leaves no room: then the transaction waits for the market.
 */
export function raiseFees(previous: FeeTerms, market: FeeTerms, cap: bigint): FeeTerms | "cap_reached" {
  const lowest = raiseBy(previous, usual);
  if (lowest.maxFee > cap || lowest.tip > cap) return "cap_reached";
  const tip = larger(lowest.tip, market.maxPriorityFeePerGas);
  const wanted = larger(larger(lowest.maxFee, market.maxFeePerGas), tip);
  const maxFeePerGas = wanted < cap ? wanted : cap;
  return { maxFeePerGas, maxPriorityFeePerGas: tip < maxFeePerGas ? tip : maxFeePerGas };
}

/** As little as replaces a transaction at all: 10 % more, whatever the market's are. For a wallet that does not have the coins for more. */
export function raiseLeast(previous: FeeTerms, cap: bigint): FeeTerms | "cap_reached" {
  const { maxFee, tip } = raiseBy(previous, least);
  return maxFee > cap || tip > cap ? "cap_reached" : { maxFeePerGas: maxFee, maxPriorityFeePerGas: tip };
}

/** 12.5 % and 10 %, as divisors. */
const usual = 8n;
const least = 10n;

function raiseBy({ maxFeePerGas, maxPriorityFeePerGas }: FeeTerms, part: bigint) {
  return { maxFee: raised(maxFeePerGas, part), tip: raised(maxPriorityFeePerGas, part) };
}

/** Rounded up, and at least one more. */
function raised(fee: bigint, part: bigint): bigint {
  return fee + larger((fee + part - 1n) / part, 1n);
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
