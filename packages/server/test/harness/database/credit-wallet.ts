import {
  accountsOfChanges,
  applyInPlace,
  externalAccountId,
  type LedgerChange,
  parseAmount,
} from "@bursar/domain";
import { entriesOf } from "../../../src/app/ledger/ledger-unit.js";
import type { Parts } from "../../../src/compose/compose.js";
import type { Database } from "../../../src/store/core/database.js";
import { sql } from "../../../src/store/core/sql.js";
import { lockAccounts, withLedger, writeBalances, writeEntries } from "../../../src/store/ledger/ledger.js";

interface Credit {
  tenantId: string;
  walletId: string;
  asset: string;
  amount: bigint;
  /** Stands in the entry in place of a transaction's id. */
  id: string;
}

/** An opening balance: entries without a transaction and without an event, so that the log of a test begins with what the test does. */
export async function creditWallet(database: Database, credit: Credit): Promise<void> {
  const { tenantId, walletId, asset, amount, id } = credit;
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
  });
}

/** The same for the primary wallet of a tenant. */
export async function creditPrimary(
  { database, assets }: Pick<Parts, "database" | "assets">,
  tenantId: string,
  code: string,
  amount: string,
): Promise<void> {
  const asset = assets.find(code);
  const units = asset === undefined ? "malformed" : parseAmount(amount, asset.decimals);
  if (typeof units === "string") throw new Error(`cannot credit ${amount} ${code}`);
  const [wallet] = await database.query<{ id: string }>(
    sql`SELECT id FROM wallets WHERE tenant_id = ${tenantId} AND role = 'primary'`,
  );
  if (wallet === undefined) throw new Error("the tenant has no primary wallet");
  await creditWallet(database, {
    tenantId,
    walletId: wallet.id,
    asset: code,
    amount: units,
    id: crypto.randomUUID(),
  });
}
