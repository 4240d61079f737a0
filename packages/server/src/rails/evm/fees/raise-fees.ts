import type { FeeTerms } from "../../../app/chain/chain-node.js";

/**
 * The fees of a transaction that replaces another. Nodes want both to be higher by at least 10 %, some by 12.5 %; both are raised by
 * 12.5 % or to the market's, and never above the cap. `cap_reached` if the cap leaves no room: then the transaction waits for the market.
 */
export function raiseFees(previous: FeeTerms, market: FeeTerms, cap: bigint): FeeTerms | "cap_reached" {
  const least = { maxFee: raised(previous.maxFeePerGas), tip: raised(previous.maxPriorityFeePerGas) };
  if (least.maxFee > cap || least.tip > cap) return "cap_reached";
  const tip = larger(least.tip, market.maxPriorityFeePerGas);
  const wanted = larger(larger(least.maxFee, market.maxFeePerGas), tip);
  const maxFeePerGas = wanted < cap ? wanted : cap;
  return { maxFeePerGas, maxPriorityFeePerGas: tip < maxFeePerGas ? tip : maxFeePerGas };
}

/** 12.5 % more, rounded up, and at least one more. */
function raised(fee: bigint): bigint {
  return fee + larger((fee + 7n) / 8n, 1n);
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
