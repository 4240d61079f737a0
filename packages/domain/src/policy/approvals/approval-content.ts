import { canonicalJson } from "../../json/canonical-json.js";

/** The transaction to approve. Identifiers are in their public form, so that an approver can compute the same digest. */
export interface ApprovedTransaction {
  tenantId: string;
  transactionId: string;
  kind: string;
  asset: string;
  network: string;
  /** In base units. */
  amount: bigint;
  /** Of the asset. Base units say nothing without them. */
  decimals: number;
  sourceWalletId: string;
  destination: { walletId: string } | { address: string };
  /** RFC 3339, as the transaction shows it. */
  expiresAt: string | null;
  /** The client that created the transaction. */
  createdBy: string;
}

/**
 * The canonical JSON (RFC 8785) of every field that determines where the money goes, and of the client that asked for it. An approval is bound to its SHA-256. The JSON names
 * its own type, so that no other document has the same digest.
 */
export function approvalContent(transaction: ApprovedTransaction): string {
  const { destination } = transaction;
  return canonicalJson({
    type: "bursar.approval.v3",
    tenant_id: transaction.tenantId,
    transaction_id: transaction.transactionId,
    kind: transaction.kind,
    asset: transaction.asset,
    network: transaction.network,
    amount: transaction.amount.toString(),
    decimals: transaction.decimals,
    source: { wallet_id: transaction.sourceWalletId },
    destination:
      "walletId" in destination ? { wallet_id: destination.walletId } : { address: destination.address },
    expires_at: transaction.expiresAt,
    created_by: transaction.createdBy,
  });
}
