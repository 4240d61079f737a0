/** What the signer does not exceed, even if the service asks for it. In wei; each network can have limits of its own. */
export interface FeeLimits {
  readonly perGas: FeeLimit;
  /** For the fee of one transaction: its gas limit times its fee per gas. */
  readonly perTransaction: FeeLimit;
}

export interface FeeLimit {
  readonly standard: bigint;
  readonly ofNetwork: ReadonlyMap<string, bigint>;
}

/** 1000 gwei, and a tenth of a coin. */
export const standardFeeLimits: FeeLimits = {
  perGas: { standard: 10n ** 12n, ofNetwork: new Map() },
  perTransaction: { standard: 10n ** 17n, ofNetwork: new Map() },
};

export interface FeeTerms {
  readonly network: string;
  readonly gasLimit: bigint;
  readonly maxFeePerGas: bigint;
}

/** The sentence that says which limit is exceeded. */
export function findExceededLimit(limits: FeeLimits, terms: FeeTerms): string | undefined {
  const { network, gasLimit, maxFeePerGas } = terms;
  const perGas = limits.perGas.ofNetwork.get(network) ?? limits.perGas.standard;
  if (maxFeePerGas > perGas)
    return `The fee of ${maxFeePerGas} wei per gas is above the signer's limit of ${perGas} for ${network}.`;
  const perTransaction = limits.perTransaction.ofNetwork.get(network) ?? limits.perTransaction.standard;
  const fee = gasLimit * maxFeePerGas;
  if (fee > perTransaction)
    return `The fee of up to ${fee} wei is above the signer's limit of ${perTransaction} for a transaction on ${network}.`;
  return undefined;
}
