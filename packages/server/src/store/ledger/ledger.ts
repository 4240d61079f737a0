import { externalAccountId } from "@bursar/domain";
import type { AuditDraft } from "../../app/audit/audit-entry.js";
import { appendAudit } from "../access/audit.js";
import type { Database } from "../core/database.js";
import { sql } from "../core/sql.js";

const bookExternalAccountId = externalAccountId("book");

export interface Funding {
  tenantId: string;
  walletId: string;
  asset: string;
  amount: bigint;
  /** Stands in the entry where a transaction's id would. */
  id: string;
  /** The entry for the audit log, where a person has done it. */
  audit?: AuditDraft;
}

/** Brings money in from outside, as a posting like any other: what a wallet gains the outside world loses. */
export async function fundWallet(
  database: Database,
  { tenantId, walletId, asset, amount, id, audit }: Funding,
): Promise<void> {
  await database.transaction(async (tx) => {
    const units = amount.toString();
    // The outside world's id is the least of all, so this is the order in which accounts are locked everywhere.
    await tx.query(sql`
      INSERT INTO ledger_accounts (tenant_id, account_id, asset, kind, available, held)
      VALUES (${tenantId}, ${bookExternalAccountId}, ${asset}, 'external', -${units}::numeric, 0)
      ON CONFLICT (tenant_id, account_id, asset) DO UPDATE SET available = ledger_accounts.available - ${units}::numeric
    `);
    await tx.query(sql`
      INSERT INTO ledger_accounts (tenant_id, account_id, asset, kind, available, held)
      VALUES (${tenantId}, ${walletId}, ${asset}, 'wallet', ${units}::numeric, 0)
      ON CONFLICT (tenant_id, account_id, asset) DO UPDATE SET available = ledger_accounts.available + ${units}::numeric
    `);
    await tx.query(sql`
      INSERT INTO ledger_entries (tenant_id, transaction_id, line, debit_account_id, credit_account_id, asset, amount)
      VALUES (${tenantId}, ${id}, 1, ${bookExternalAccountId}, ${walletId}, ${asset}, ${units}::numeric)
    `);
    if (audit !== undefined) await appendAudit(tx, [audit]);
  });
}

export async function findTenantOfWallet(database: Database, walletId: string): Promise<string | undefined> {
  const [row] = await database.query<{ tenant_id: string }>(
    sql`SELECT tenant_id FROM wallets WHERE id = ${walletId}`,
  );
  return row?.tenant_id;
}
