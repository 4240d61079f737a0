import type { AccountKey, Balance, LedgerChange, Posting } from "@bursar/domain";

/** Balances by account name. A decision changes them, so that the next one of the batch sees what the one before has left. */
export type Balances = Map<string, Balance>;

/** A posting as the ledger keeps it, with the transaction, trade or funding that it belongs to. */
export interface LedgerEntry extends Posting {
  transactionId: string;
}

/**
 * The part of a unit of work that moves value. Accounts are locked once, after everything else that the unit locks; changes are
 * applied to the balances in memory, and both are written with whatever the unit was for.
 */
export interface LedgerUnit {
  /** Locks all of these accounts. If some do not exist yet, they are created and the unit of work begins again. */
  lockAccounts: (accounts: readonly AccountKey[]) => Promise<Balances>;
}

/** What a change adds to the entries of the ledger. */
export function entriesOf(transactionId: string, { postings }: LedgerChange): LedgerEntry[] {
  return postings.map(({ tenantId, line, debit, credit, asset, amount }) => ({
    transactionId,
    tenantId,
    line,
    debit,
    credit,
    asset,
    amount,
  }));
}
