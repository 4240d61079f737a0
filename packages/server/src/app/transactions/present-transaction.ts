import { type FailureCode, formatAmount } from "@bursar/domain";
import { showId, type Transaction as TransactionBody } from "@bursar/protocol";
import type { Transaction } from "./transaction.js";

const failureMessages: Record<FailureCode, string> = {
  INSUFFICIENT_FUNDS: "The source wallet did not have enough.",
  EXPIRED: "It had not been processed when it expired.",
  WALLET_FROZEN: "The source wallet is frozen.",
};

/** A transaction as every reader sees it. Acceptance is the first entry of its history: version 1, and no event. */
export function presentTransaction(transaction: Transaction): TransactionBody {
  const { steps, createdAt, asset } = transaction;
  const last = steps.at(-1);
  const created = createdAt.toISOString();
  return {
    id: showId("tx", transaction.id),
    object: "transaction",
    kind: "transfer",
    reference: transaction.reference,
    asset: asset.code,
    amount: formatAmount(transaction.amount, asset.decimals),
    state: last?.state ?? "accepted",
    version: last?.version ?? 1,
    source: { wallet_id: showId("wlt", transaction.sourceWalletId) },
    destination: { wallet_id: showId("wlt", transaction.destinationWalletId) },
    fee: null,
    network: "book",
    failure: last?.failure == null ? null : { code: last.failure, message: failureMessages[last.failure] },
    history: [
      { version: 1, state: "accepted", occurred_at: created },
      ...steps.map(({ version, state, occurredAt }) => ({
        version,
        state,
        occurred_at: occurredAt.toISOString(),
      })),
    ],
    metadata: { ...transaction.metadata },
    created_at: created,
    updated_at: last?.occurredAt.toISOString() ?? created,
  };
}
