import type { ObservedOutcome } from "../../../app/chain/chain-node.js";

export interface ExpectedPayment {
  asset: string;
  /** The contract of a token; null for the coin. */
  contract: string | null;
  from: string;
  to: string;
  amount: bigint;
}

/**
 * Whether a transaction did what it was made for. A success says enough about the coin. A token can succeed and move nothing, or something
 * else: its logs must show one transfer by the sender, and it must be this one.
 */
export function isPaidExactly(outcome: ObservedOutcome, payment: ExpectedPayment): boolean {
  if (!outcome.success || payment.contract === null) return outcome.success;
  const sent = outcome.transfers.filter(
    ({ ordinal, asset, from }) => ordinal > 0 && asset === payment.asset && from === payment.from,
  );
  const [only] = sent;
  return sent.length === 1 && only?.to === payment.to && only.amount === payment.amount;
}
