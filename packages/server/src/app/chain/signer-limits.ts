import { formatAmount } from "@bursar/domain";
import type { ChainNetwork } from "./chain-network.js";

/** What the signer does not exceed on a network, in wei. */
export interface SignerLimits {
  perGas: bigint;
  /** For the gas limit times the fee of one transaction. */
  perTransaction: bigint;
}

const gweiDecimals = 9;
const coinDecimals = 18;

/** For the operator: what the configuration allows and the signer refuses. Such payments would get a nonce and no signature. */
export function findLowerLimits(
  { network, feeCap, feeMax }: Pick<ChainNetwork, "network" | "feeCap" | "feeMax">,
  { perGas, perTransaction }: SignerLimits,
): string[] {
  const faults: string[] = [];
  if (perGas < feeCap)
    faults.push(
      `The signer signs at most ${formatAmount(perGas, gweiDecimals)} gwei per gas on ${network}, and fee_cap_gwei is ${formatAmount(feeCap, gweiDecimals)}. Lower fee_cap_gwei, or start bursar-signer with --max-fee-per-gas ${network}=${feeCap}.`,
    );
  if (perTransaction < feeMax)
    faults.push(
      `The signer signs a fee of at most ${formatAmount(perTransaction, coinDecimals)} coins for a transaction on ${network}, and fee_max is ${formatAmount(feeMax, coinDecimals)}. Lower fee_max, or start bursar-signer with --max-fee ${network}=${feeMax}.`,
    );
  return faults;
}
