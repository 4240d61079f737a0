import { accountsOfChanges, applyInPlace, externalAccountId, type LedgerChange } from "@bursar/domain";
import type { AuditDraft } from "../../app/audit/audit-entry.js";
import { entriesOf } from "../../app/ledger/ledger-unit.js";
import { appendAudit } from "../access/audit.js";
import type { Database } from "../core/database.js";
import { sql } from "../core/sql.js";
import { lockAccounts, withLedger, writeBalances, writeEntries } from "./ledger.js";

export interface Funding {
  tenantId: string;
  walletId: string;
  asset: string;
  amount: bigint;
  /** Stands in the entry in place of a transaction's id. */
  id: string;
  /** The entry for the audit log, if an operator asked for it. */
  audit?: AuditDraft;
}

/** Brings money in from outside the book: what the wallet gains, the book's external account loses. */
export async function fundWallet(database: Database, funding: Funding): Promise<void> {
  const { tenantId, walletId, asset, amount, id, audit } = funding;
  const outside = externalAccountId("book");
  const change: LedgerChange = {
    releases: [],
    postings: [{ tenantId, line: 1, debit: outside, credit: walletId, asset, amount }],
    holds: [],
  };
  await withLedger(database, async (tx) => {
    const balances = await lockAccounts(tx, accountsOfChanges([change]));
    applyInPlace(balances, change);
    writeBalances(tx, balances);
    writeEntries(tx, entriesOf(id, change));
    if (audit !== undefined) await appendAudit(tx, [audit]);
  });
}

/** The wallet that an operator names by its id alone. */
export async function findWalletToFund(
  database: Database,
  walletId: string,
): Promise<{ tenantId: string; network: string } | undefined> {
  const [row] = await database.query<{ tenantId: string; network: string }>(
    sql`SELECT tenant_id AS "tenantId", network FROM wallets WHERE id = ${walletId}`,
  );
  return row;
}
