import { accountsOfChanges, applyInPlace, externalAccountId, type LedgerChange } from "@bursar/domain";
import type { AuditDraft } from "../../app/audit/audit-entry.js";
import { entriesOf } from "../../app/ledger/ledger-unit.js";
import type { EarlierResult, OperatorRequest } from "../../app/requests/operator-request.js";
import { appendAudit } from "../access/audit.js";
import type { Database } from "../core/database.js";
import { recordOperatorRequest } from "../core/operator-requests.js";
import { sql } from "../core/sql.js";
import { lockAccounts, withLedger, writeBalances, writeEntries } from "./ledger.js";

export interface Funding {
  tenantId: string;
  walletId: string;
  asset: string;
  amount: bigint;
  /** Stands in the entry in place of a transaction's id. */
  id: string;
  /** The operator's command, if there is one, and its entry for the audit log. */
  request?: OperatorRequest;
  audit?: AuditDraft;
}

/**
 * Brings money in from outside the book: what the wallet gains, the book's external account loses. If a command with the same key has done
 * so before, nothing is written and that funding is returned.
 */
export async function fundWallet(database: Database, funding: Funding): Promise<EarlierResult | undefined> {
  const { tenantId, walletId, asset, amount, id, request, audit } = funding;
  const outside = externalAccountId("book");
  const change: LedgerChange = {
    releases: [],
    postings: [{ tenantId, line: 1, debit: outside, credit: walletId, asset, amount }],
    holds: [],
  };
  return await withLedger(database, async (tx) => {
    const result = { tenantId, objectId: id, sealedSecret: null };
    const earlier = request && (await recordOperatorRequest(tx, request, result));
    if (earlier !== undefined) return earlier;
    const balances = await lockAccounts(tx, accountsOfChanges([change]));
    applyInPlace(balances, change);
    writeBalances(tx, balances);
    writeEntries(tx, entriesOf(id, change));
    if (audit !== undefined) await appendAudit(tx, [audit]);
    return undefined;
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
