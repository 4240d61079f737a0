import type { IntegrityKeys } from "../../app/access/integrity-keys.js";
import { shownPaymentId } from "../../app/transactions/approvals/present-approval.js";
import type { RowMac } from "../access/row-integrity.js";
import { hasEnded, readStops, type StopColumns, stopColumns } from "../access/stops/stop-records.js";
import { sql } from "../core/sql.js";
import {
  type BegunPurpose,
  isTransactionAuthentic,
  purposeOfBegun,
  type SealedTransaction,
  sealedColumns,
} from "../transactions/transaction-integrity.js";
import { isAddressAuthentic } from "./wallets/wallet-integrity.js";

/** What authenticates a payment, of the rows that `joinFacts` joins. `p` also has its network and its own MAC. */
export const integrityColumns = sql`${sealedColumns}, ${stopColumns(sql`t`, sql`p.wallet_id`)}, ${hasEnded(sql`t`)} AS "hasEnded",
  p.network, p.wallet_id AS "walletId",
  p.key_id AS "begunKeyId", p.mac AS "begunMac", (
    SELECT o.needs_judgement FROM open_transactions o WHERE o.tenant_id = p.tenant_id AND o.id = p.id) AS "needsJudgement",
  w.address, w.shown, w.key_id AS "senderKeyId", w.mac AS "senderMac",
  d.address AS "ownAddress", d.shown AS "ownShown", d.key_id AS "ownKeyId", d.mac AS "ownMac"`;

export interface IntegrityRow extends SealedTransaction, StopColumns, RowMac {
  walletId: string;
  hasEnded: boolean | null;
  begunKeyId: string | null;
  begunMac: Uint8Array | null;
  /** Of the sender. */
  address: string;
  shown: string;
  senderKeyId: string | null;
  senderMac: Uint8Array | null;
  /** Of the wallet that it pays; null for a payment to an address. */
  ownAddress: string | null;
  ownShown: string | null;
  ownKeyId: string | null;
  ownMac: Uint8Array | null;
}

interface CheckedPayment {
  /** Why it must not be signed; null if everything that decides about it was written by the service. */
  fault: string | null;
  /** Whether it was begun for nothing but that. */
  isToCancel: boolean;
}

export function checkPayment(keys: IntegrityKeys, row: IntegrityRow): CheckedPayment {
  const { tenantId, id, walletId } = row;
  const stored = { keyId: row.begunKeyId, mac: row.begunMac };
  const purpose = purposeOfBegun(keys, { tenantId, id, walletId }, stored);
  return { fault: findFault(keys, row, purpose), isToCancel: purpose === "cancel" };
}

export function describeChange(what: string, id: string): string {
  return `${what} was changed in the database by something other than Bursar, so ${shownPaymentId(id)} is not signed. Restore the row from a backup, then resume the wallet.`;
}

export function describeForgedStop(id: string, refused: "signed" | "sent again"): string {
  return `The table stop_records has a row that Bursar has not written, about the wallet, the client or the tenant of ${shownPaymentId(id)}, so it is not ${refused}. Remove the row as the owner of the table, then resume the wallet.`;
}

function findFault(keys: IntegrityKeys, row: IntegrityRow, purpose: BegunPurpose | undefined): string | null {
  const { tenantId, id, walletId, network, destinationAccountId, ownAddress, ownShown } = row;
  const changed = (what: string) => describeChange(what, id);
  if (row.hasEnded === true)
    return `${shownPaymentId(id)} has ended, and something other than Bursar has made it open again in the database, so it is not signed. Delete its rows in open_transactions and chain_payments, then resume the wallet.`;
  if (row.sourceAccountId !== walletId || !isTransactionAuthentic(keys, row))
    return changed("The row of a transaction");
  if (purpose === undefined) return changed("The row of a payment");
  if (readStops(keys, row, row).isForged) return describeForgedStop(id, "signed");
  const { address, shown, destinationAddress } = row;
  const sender = { tenantId, walletId, network, address, shown };
  if (!isAddressAuthentic(keys, sender, { keyId: row.senderKeyId, mac: row.senderMac }))
    return changed("The address of the wallet");
  if (destinationAddress !== null) return null;
  const paid = { tenantId, walletId: destinationAccountId, network };
  const isPaidAuthentic =
    ownAddress !== null &&
    ownShown !== null &&
    isAddressAuthentic(
      keys,
      { ...paid, address: ownAddress, shown: ownShown },
      { keyId: row.ownKeyId, mac: row.ownMac },
    );
  return isPaidAuthentic ? null : changed("The address of the wallet that it pays");
}
