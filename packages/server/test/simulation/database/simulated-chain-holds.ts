import type { AttemptTerms } from "../../../src/app/chain/chain-store.js";
import type { UnsignedHolds } from "../../../src/app/chain/stop-payment.js";
import type { TransactionKey } from "../../../src/app/transactions/settlement.js";
import {
  type ChainPaymentRow,
  chainPayments,
  chainWallets,
  suspendedTenants,
} from "./simulated-chain-tables.js";
import type { Rows } from "./simulated-rows.js";
import { keyOf, openTransactions, transactions, wallets as walletTable } from "./simulated-tables.js";

/** What no process may do, as the rows say that it has locked. */
export function assertMayPay(
  rows: Rows,
  { tenantId, id, terms }: TransactionKey & { terms: AttemptTerms },
): void {
  const row = rows.get(chainPayments, keyOf(tenantId, id));
  if (row === undefined || terms.purpose === "cancellation") return;
  // What is stored for a wallet that is halted is on the chain already.
  if (rows.get(chainWallets, keyOf(tenantId, row.walletId))?.haltedReason !== null) return;
  if (rows.get(walletTable, keyOf(tenantId, row.walletId))?.frozen === true)
    throw new Error(`bytes that pay ${id} are stored while its wallet is frozen`);
  if (rows.get(openTransactions, keyOf(tenantId, id))?.cancelRequested === true)
    throw new Error(`bytes that pay ${id} are stored after its cancellation was requested`);
}

/** As `store/chain/payment-holds.ts`. */
export function holdsOf(
  rows: Rows,
  { tenantId, id, walletId }: ChainPaymentRow,
  nowMs: number,
): UnsignedHolds {
  const expiresAt = rows.get(transactions, keyOf(tenantId, id))?.expiresAt ?? null;
  return {
    cancelRequested: rows.get(openTransactions, keyOf(tenantId, id))?.cancelRequested === true,
    isFrozen: rows.get(walletTable, keyOf(tenantId, walletId))?.frozen === true,
    isSuspended: rows.get(suspendedTenants, tenantId) === true,
    ...{ isDisabled: false, isDelisted: false },
    isExpired: expiresAt !== null && expiresAt.getTime() <= nowMs,
  };
}
