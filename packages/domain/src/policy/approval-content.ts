import { canonicalJson } from "../json/canonical-json.js";

/** What will be sent if it is approved. Identifiers are in their public form, so that an approver can compute the same digest. */
export interface ApprovedTransaction {
  tenantId: string;
  transactionId: string;
  kind: string;
  asset: string;
  network: string;
  /** In base units. */
  amount: bigint;
  sourceWalletId: string;
  destination: { walletId: string } | { address: string };
  /** RFC 3339, as the transaction shows it. */
  expiresAt: string | null;
}

/**
 * The one text that an approval is about: RFC 8785 JSON of all that decides where the money goes. An approval binds its SHA-256, and
 * it says what it is, so that the digest of nothing else can pass for it.
 */
export function approvalContent(transaction: ApprovedTransaction): string {
  const { destination } = transaction;
  return canonicalJson({
    type: "bursar.approval.v1",
    tenant_id: transaction.tenantId,
    transaction_id: transaction.transactionId,
    kind: transaction.kind,
    asset: transaction.asset,
    network: transaction.network,
    amount: transaction.amount.toString(),
    source: { wallet_id: transaction.sourceWalletId },
    destination:
      "walletId" in destination ? { wallet_id: destination.walletId } : { address: destination.address },
    expires_at: transaction.expiresAt,
  });
}
